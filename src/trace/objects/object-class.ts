import { z } from 'zod'
import { checked } from '../../checked.ts'
import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../is-record.ts'
import { type JsonText, type LosslessJson, parseLossless, stringify } from '../../lossless-json.ts'
import { BUILTIN_CLASSES } from './builtin-classes.ts'

export interface ObjectClasses {
  kind: 'op' | 'object'
  base_object_class: string | null
  leaf_object_class: string | null
}

/**
 * A value as it is stored, with its kind and classes. Wire: an instance lists its bases in `_bases`, which end with
 * Object (or BaseObject) and BaseModel; the one before those is the base class. A value that says nothing of the kind
 * but is `claimed` to be of a builtin class is checked against it, filled with its defaults, and becomes an instance.
 * @throws 400 when `claimed` is unknown or contradicts the value.
 */
export function classified(
  val: JsonText | null,
  claimed: string | null | undefined,
): ObjectClasses & { val: string } {
  const value = val?.value()
  const fields = isRecord(value) ? value : {}
  const kind = isRecord(fields['weave_type']) && fields['weave_type']['type'] === 'Op' ? 'op' : 'object'
  const own = classesOfInstance(fields)
  const text = val?.text ?? 'null'
  if (claimed == null) return { val: text, kind, ...own }
  if (!BUILTIN_CLASSES.has(claimed))
    throw invalidRequest(`Unknown builtin object class ${claimed.slice(0, 100)}`)
  if (!isRecord(value)) throw invalidRequest(`A value of class ${claimed} must be an object`)
  if (own.leaf_object_class === null) return { kind, ...instanceOf(claimed, text) }
  if (own.leaf_object_class !== claimed) {
    throw invalidRequest(`The value is of class ${own.leaf_object_class}, not ${claimed}`)
  }
  return { val: text, kind, ...own }
}

function instanceOf(claimed: string, text: string) {
  const schema = BUILTIN_CLASSES.get(claimed) ?? z.never()
  const parsed = checked(schema, parseLossless(text), `The value is not of class ${claimed}`)
  const instance = parsed as Record<string, LosslessJson> // every builtin class is an object
  const classes = classesOfInstance(instance)
  if (classes.leaf_object_class === null) {
    throw invalidRequest(`${claimed} is a part of other classes, not one of an object`)
  }
  return { val: stringify(instance), ...classes }
}

function classesOfInstance(fields: Record<string, unknown>): Omit<ObjectClasses, 'kind'> {
  const bases = Array.isArray(fields['_bases']) ? fields['_bases'].map(String) : []
  const leaf = fields['_class_name']
  const isInstance = bases.at(-1) === 'BaseModel' && /^(Base)?Object$/.test(bases.at(-2) ?? '')
  if (!isInstance || typeof leaf !== 'string') return { base_object_class: null, leaf_object_class: null }
  return { base_object_class: bases.at(-3) ?? leaf, leaf_object_class: leaf }
}
