import { type Place, placeOf, type Rights, type Verb } from '../../access.ts'
import type { Caller } from '../../http/caller.ts'

/** What a user is in an entity. */
export type Role = 'viewer' | 'member' | 'admin'

/** What a key may be used for, within what its user may do. */
export type KeyScope = 'all' | 'read' | 'ingest' | 'inference'

const VERBS_OF_ROLE: Record<Role, readonly Verb[]> = {
  viewer: ['read'],
  member: ['read', 'ingest', 'write', 'infer'],
  admin: ['read', 'ingest', 'write', 'infer', 'manage'],
}

const VERBS_OF_SCOPE: Record<KeyScope, readonly Verb[]> = {
  all: ['read', 'ingest', 'write', 'infer', 'manage'],
  read: ['read'],
  ingest: ['ingest'],
  inference: ['infer'],
}

export interface Granted {
  /** Roles by entity. */
  roles: ReadonlyMap<string, Role>
  isOperator: boolean
  scope: KeyScope
  /** `entity/project` where only one project may be used. */
  projectId: string | null
}

/** Whether a caller may do all that its user may: a person in a session, or with a key without limits. */
export function isUnlimited({ rights, user }: Pick<Caller, 'rights' | 'user'>): boolean {
  return rights.allows('manage', { entity: user })
}

/** What a user may do, by the user's roles and the scope of the key. */
export function rightsOf({ roles, isOperator, scope, projectId }: Granted): Rights {
  const only = projectId === null ? undefined : placeOf(projectId)
  const byScope = new Set(VERBS_OF_SCOPE[scope])

  function isWithin({ entity, project }: Place): boolean {
    return only === undefined || (only.entity === entity && only.project === project)
  }

  return {
    allows(verb, place) {
      const role = roles.get(place.entity)
      return role !== undefined && byScope.has(verb) && VERBS_OF_ROLE[role].includes(verb) && isWithin(place)
    },
    entities: only === undefined ? [...roles.keys()] : [only.entity],
    project: only?.project,
    isOperator: isOperator && scope === 'all' && projectId === null,
  }
}
