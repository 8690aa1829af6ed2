import { ALL_RIGHTS, NO_RIGHTS, placeOf, type Rights } from '../../access.ts'
import { ClientError, notAllowed } from '../../errors.ts'
import { rightsOf } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import type { AccessTokens } from '../identity-providers/access-tokens.ts'
import type { Keys } from '../keys/service.ts'
import type { AuthMode } from '../sessions/me.ts'
import type { Sessions } from '../sessions/service.ts'

/** Who background work is done for: the user and key of the request that started it. */
export interface Principal {
  user: string
  key_id: string
}

/** Work in a project that continues after its request, and who it is done for. */
export interface BackgroundWork extends Principal {
  project_id: string
}

/** What background work may do at the time when it runs. */
export interface Principals {
  /** Nothing once the key or the identity provider is gone, or the user disabled. */
  rightsOf(work: BackgroundWork): Promise<Rights>
}

/**
 * The rights of work that changes its project, at this time.
 * @throws 403 where its user or key may no longer change the project
 */
export async function rightsToChange(
  principals: Pick<Principals, 'rightsOf'>,
  work: BackgroundWork,
): Promise<Rights> {
  const rights = await principals.rightsOf(work)
  if (rights.allows('write', placeOf(work.project_id))) return rights
  throw notAllowed(`${work.user} may no longer change ${work.project_id}, or the key may not`)
}

export function createPrincipals(deps: {
  auth: AuthMode
  identity: Identity
  keys: Pick<Keys, 'callerById'>
  accessTokens: Pick<AccessTokens, 'callerById'>
  sessions: Pick<Sessions, 'callerById'>
}): Principals {
  const { auth, identity, keys, accessTokens, sessions } = deps

  /**
   * Work that the server starts itself, such as that of monitors, has the rights that the user has in its project, and
   * no others: what it does may be defined by anyone who may write there, also with a key that is limited to the
   * project.
   */
  async function rightsOfUser({ user: name, project_id }: BackgroundWork): Promise<Rights> {
    const user = await identity.userNamed(name).catch(unlessUnknown)
    if (user === undefined || user.disabled_at !== null) return NO_RIGHTS
    const roles = await identity.rolesOf(user.id)
    return rightsOf({ roles, isOperator: false, scope: 'all', projectId: project_id })
  }

  return {
    async rightsOf(work) {
      const { key_id } = work
      if (auth === 'local') return ALL_RIGHTS
      const caller =
        (await sessions.callerById(key_id)) ??
        (await accessTokens.callerById(key_id)) ??
        (await keys.callerById(key_id))
      if (caller !== undefined) return caller.rights
      return isOwnKey(key_id) ? rightsOfUser(work) : NO_RIGHTS
    },
  }
}

function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ClientError && error.status === 404)) throw error
}

/** Ids of keys are UUIDs and those of sessions have a prefix; others name a part of the server. */
function isOwnKey(keyId: string): boolean {
  return /^[a-z_]+$/.test(keyId)
}
