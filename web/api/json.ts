import type { Json } from './wire.ts'

/** Where an integer of so many digits begins, the browser may not represent it. */
const LONG_INTEGER = /[:[,\s-]\d{16}/

/** What a text of JSON says; integers that a number cannot represent are bigints, which keep their digits. */
export function parseJson(text: string): unknown {
  // Most texts have none, and are parsed several times as fast without a function for each value.
  return LONG_INTEGER.test(text) ? JSON.parse(text, keepExact) : JSON.parse(text)
}

/** As integers are written whose digits matter; those with a fraction or an exponent are measures. */
const INTEGER = /^-?\d+$/

function keepExact(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value !== 'number' || source === undefined || !INTEGER.test(source)) return value
  return Number.isSafeInteger(value) || String(value) === source ? value : BigInt(source)
}

// JSON writes no bigints by itself. Browsers that give out the source of a number also have `rawJSON`.
Object.defineProperty(BigInt.prototype, 'toJSON', {
  value(this: bigint): unknown {
    return (JSON as RawJson).rawJSON(String(this))
  },
})

/** What TypeScript does not know of JSON yet. */
type RawJson = typeof JSON & { rawJSON(text: string): unknown }

/** The value at a dotted path, as {@link pathOf} makes it. */
export function valueAt(call: object, path: string): Json | undefined {
  let value = call as Json | undefined
  for (const step of pathNames(path)) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Array.isArray(value) ? value[Number(step)] : ownMember(value, step)
  }
  return value
}

/** A member of a payload; what JavaScript gives to all objects, as `constructor`, is in none unless it is its own. */
function ownMember(of: object, name: string): Json | undefined {
  return Object.hasOwn(of, name) ? (of as { [name: string]: Json | undefined })[name] : undefined
}

/** A dotted path; wire: a dot that is part of a name is written `\.`. */
export function pathOf(names: readonly string[]): string {
  return names.map((name) => name.replaceAll('.', '\\.')).join('.')
}

/** The names of which {@link pathOf} has made a path. */
export function pathNames(path: string): string[] {
  return path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'))
}

/** The members of an object; none of anything else. */
export function objectOf(value: Json | undefined): { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

/** A number, rounded where {@link parseJson} has kept its digits; null for anything else. */
export function numberOf(value: Json | undefined): number | null {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'number' ? value : null
}
