import type { Json } from './wire.ts'

/** The value at a dotted path; wire: a dot that is part of a name is written `\.`. */
export function valueAt(call: object, path: string): Json | undefined {
  let value = call as Json | undefined
  for (const escaped of path.split(/(?<!\\)\./)) {
    const step = escaped.replaceAll('\\.', '.')
    if (typeof value !== 'object' || value === null) return undefined
    value = Array.isArray(value) ? value[Number(step)] : value[step]
  }
  return value
}

/** The members of an object; none of anything else. */
export function objectOf(value: Json | undefined): { [key: string]: Json | undefined } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
