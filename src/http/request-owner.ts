import { entityOf } from '../fairness/fair-queue.ts'
import type { Caller } from './caller.ts'

/** Where batches name their project: `body.batch[0].req.start.project_id`. */
const DEPTH_MAX = 5

/**
 * The owner that a request counts for: the project it names first, or its key where it names none, or one of an entity
 * that the caller does not belong to, so that a caller never uses the turns of another entity.
 */
export function ownerOf(
  input: Record<string, unknown>,
  { keyId, defaultEntity, rights: { entities } }: Pick<Caller, 'keyId' | 'defaultEntity' | 'rights'>,
): string {
  const named = projectNamed(input)
  const isOwn = named !== undefined && (entities === 'all' || entities.includes(entityOf(named)))
  return isOwn ? named : `${defaultEntity}/${keyId}`
}

function projectNamed(input: Record<string, unknown>): string | undefined {
  const { entity, project } = input
  if (typeof entity === 'string' && typeof project === 'string') return `${entity}/${project}`
  return projectIn(input, DEPTH_MAX)
}

function projectIn(value: unknown, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null || depth < 0) return undefined
  if (Array.isArray(value)) return projectIn(value[0], depth - 1)
  const named: unknown = Reflect.get(value, 'project_id')
  if (typeof named === 'string') return named
  for (const inner of Object.values(value)) {
    const found = projectIn(inner, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}
