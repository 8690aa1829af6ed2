import type { Caller } from './caller.ts'

/** Where batches name their project: `body.batch[0].req.start.project_id`. */
const DEPTH_MAX = 5

/** The owner that a request counts for: the project it names first, or its key where it names none. */
export function ownerOf(input: Record<string, unknown>, { keyId }: Pick<Caller, 'keyId'>): string {
  const { entity, project } = input
  if (typeof entity === 'string' && typeof project === 'string') return `${entity}/${project}`
  return projectIn(input, DEPTH_MAX) ?? keyId
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
