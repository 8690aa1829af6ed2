import type { PayloadPath } from './wire.ts'

/** Wire: only paths of these characters can be queried, so no others are listed. */
const JSON_PATH = /^[a-zA-Z0-9_. ]*[a-zA-Z0-9_.][a-zA-Z0-9_. ]*$/

/** The keys of a dotted path; undefined for one that cannot be queried. */
export function stepsOf(path: string): string[] | undefined {
  return JSON_PATH.test(path) ? path.trim().split('.') : undefined
}

/** The leaves of payloads, by path, each with its type in all of them. */
export function payloadPaths(payloads: readonly unknown[]): PayloadPath[] {
  const types = new Map<string, Set<string>>()
  for (const payload of payloads) {
    for (const { path, type } of leavesOf(payload, '')) {
      if (stepsOf(path) !== undefined) types.set(path, (types.get(path) ?? new Set()).add(type))
    }
  }
  const paths = [...types].map(([json_path, seen]) => ({ json_path, value_type: typeOf(seen) }))
  return paths.sort((a, b) => (a.json_path < b.json_path ? -1 : 1))
}

interface Leaf {
  path: string
  type: string
}

/** Wire: scalars in a list are leaves at the path of the list; deeper values have no path. */
function* leavesOf(value: unknown, path: string): Generator<Leaf> {
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item !== 'object' || item === null) yield leafOf(item, path)
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (!key.includes('.')) yield* leavesOf(member, path === '' ? key : `${path}.${key}`)
    }
  } else yield leafOf(value, path)
}

function leafOf(value: unknown, path: string): Leaf {
  return { path, type: value === null ? 'null' : typeof value }
}

function typeOf(seen: ReadonlySet<string>): PayloadPath['value_type'] {
  const types = [...seen].filter((type) => type !== 'null')
  if (types.length === 0) return null
  if (types.every((type) => type === 'boolean')) return 'boolean'
  return types.every((type) => type === 'number') ? 'numeric' : 'categorical'
}
