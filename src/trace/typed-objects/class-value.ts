import { invalidRequest } from '../../errors.ts'
import { JsonText, parseLossless, stringify } from '../../json/lossless-json.ts'

/** Fields of an object that no attribute may replace: it would change its class, or could not be read back. */
const OWN = ['_type', '_class_name', '_bases', 'name', 'description']

/**
 * An instance of a class as clients publish it, with attributes beside its fields.
 * @throws 400 for an attribute in the place of a field that has a value.
 */
export function classValue(
  className: string,
  fields: Record<string, unknown>,
  attributes?: JsonText | null,
): JsonText {
  const own = { _type: className, _class_name: className, _bases: ['Object', 'BaseModel'], ...fields }
  const more = attributesOf(attributes)
  const set = Object.entries(fields).flatMap(([field, value]) => (value === null ? [] : [field]))
  const taken = [...OWN, ...set].find((field) => Object.hasOwn(more, field))
  if (taken !== undefined) throw invalidRequest(`${taken} is a field of ${className} itself, no attribute`)
  return new JsonText(stringify({ ...own, ...more }))
}

/** A value without the fields of its class; null where nothing is left. */
export function attributesIn(text: string, fields: readonly string[]): JsonText | null {
  const value = parseLossless(text)
  const left = Object.entries(value ?? {}).filter(([field]) => ![...OWN, ...fields].includes(field))
  return left.length === 0 ? null : new JsonText(stringify(Object.fromEntries(left)))
}

function attributesOf(attributes: JsonText | null | undefined): object {
  const value = attributes == null ? null : parseLossless(attributes.text)
  return typeof value === 'object' && value !== null ? value : {}
}
