import { tooLarge } from '../../errors.ts'
import { STEPS_MAX } from '../query-language/json-path.ts'
import type { PayloadPath } from './wire.ts'

/** Wire: only paths of these characters can be queried, so no others are listed. */
const JSON_PATH = /^[a-zA-Z0-9_. ]+$/

/** Longer paths come from keys that are data. */
const PATH_CHARS_MAX = 500

/** Paths in one reply. Payloads with more have keys that are data, such as ids. */
const PATHS_MAX = 20_000

/** The keys of a dotted path. @returns what is wrong with it where it cannot be queried */
export function stepsOf(path: string): { steps: string[] } | { refusal: string } {
  if (path.length > PATH_CHARS_MAX) return { refusal: `has at most ${PATH_CHARS_MAX} characters` }
  const trimmed = path.trim()
  if (trimmed === '' || !JSON_PATH.test(path))
    return { refusal: 'may only have letters, digits, "_", "." and spaces' }
  const steps = trimmed.split('.')
  return steps.length > STEPS_MAX ? { refusal: `has at most ${STEPS_MAX} steps` } : { steps }
}

/** The leaves of payloads, by path, each with its type in all of them. */
export interface PayloadPaths {
  /** @throws 413 for too many paths */
  add(payload: unknown): void
  all(): PayloadPath[]
}

export function createPayloadPaths(): PayloadPaths {
  const types = new Map<string, Set<string>>()

  function addLeaf({ path, type }: Leaf): void {
    const known = types.get(path)
    if (known !== undefined) known.add(type)
    else if ('steps' in stepsOf(path)) {
      if (types.size === PATHS_MAX) throw tooLarge(`The payloads have more than ${PATHS_MAX} paths`)
      types.set(path, new Set([type]))
    }
  }

  return {
    add(payload) {
      for (const leaf of leavesOf(payload, '')) addLeaf(leaf)
    },
    all() {
      const paths = [...types].map(([json_path, seen]) => ({ json_path, value_type: typeOf(seen) }))
      return paths.sort((a, b) => (a.json_path < b.json_path ? -1 : 1))
    },
  }
}

interface Leaf {
  path: string
  type: string
}

/** Wire: scalars in a list are leaves at the path of the list; deeper values have no path. */
function* leavesOf(value: unknown, path: string): Generator<Leaf> {
  if (path.length > PATH_CHARS_MAX) return
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
