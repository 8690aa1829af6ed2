import { z } from 'zod'
import { isRecord } from '../../json/is-record.ts'
import { JsonNumber, type LosslessJson } from '../../json/lossless-json.ts'

/**
 * Types for values whose numbers keep their source, because the digest of what is stored tells `1` from `1.0`. Their
 * output is what the service's own models would store.
 */

/** Any value, unchanged. */
export const AnyValue = z.custom<LosslessJson>((value) => value !== undefined, 'Value required')

/** Any object, unchanged. */
export const AnyObject = z.custom<Record<string, LosslessJson>>(isPlainObject, 'Must be an object')

/** Wire: `3.0` is taken for `3`. */
export const Integer = z
  .custom<JsonNumber>(
    (value) => value instanceof JsonNumber && Number.isInteger(Number(value.source)),
    'Must be an integer',
  )
  .transform(({ source }) =>
    /^-?\d+$/.test(source) ? new JsonNumber(source) : new JsonNumber(String(BigInt(Number(source)))),
  )

/** Wire: `3` is taken for `3.0`. */
export const Float = z
  .custom<JsonNumber>((value) => value instanceof JsonNumber, 'Must be a number')
  .transform(({ source }) =>
    /^-?\d+$/.test(source) ? new JsonNumber(`${source}.0`) : new JsonNumber(source),
  )

/** A field that may be missing or null, and is stored as null then. */
export function optional<T extends z.ZodType>(type: T): z.ZodDefault<z.ZodNullable<T>> {
  // A generic default cannot be checked against an open type; null is in each of them.
  return type.nullable().default(null as never)
}

/**
 * A class of the service. Wire: stored values name their class twice and its bases, at every level. Unknown fields are
 * dropped; a `closed` class refuses them.
 */
export function model<T extends z.ZodRawShape>(
  name: string,
  fields: T,
  { bases = [], extras = 'leave out' }: { bases?: readonly string[]; extras?: 'leave out' | 'refuse' } = {},
) {
  const shape = extras === 'refuse' ? z.strictObject(fields) : z.object(fields)
  return shape.transform((value) => ({
    _type: name,
    ...value,
    _class_name: name,
    _bases: [...bases, 'BaseModel'],
  }))
}

function isPlainObject(value: unknown): value is Record<string, LosslessJson> {
  return isRecord(value) && !(value instanceof JsonNumber)
}
