import { z } from 'zod'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import {
  type JsonText,
  type LosslessJson,
  memberTexts,
  parseLossless,
  stringify,
} from '../../json/lossless-json.ts'
import { checked } from '../../wire/checked.ts'
import { BUILTIN_CLASSES } from './builtin-classes.ts'

/** The base class of monitors, by which the server acts on calls: it has them scored, also by services elsewhere. */
export const MONITOR_CLASS = 'Monitor'

export interface ObjectClasses {
  kind: 'op' | 'object'
  base_object_class: string | null
  leaf_object_class: string | null
}

/**
 * A value as it is stored, with its kind and classes. Wire: an instance lists its bases in `_bases`, which end with
 * Object (or BaseObject) and BaseModel; the one before those is the base class. A value without these that is `claimed`
 * to be of a builtin class is checked against it, filled with its defaults, and becomes an instance.
 * @throws 400 when `claimed` is unknown or contradicts the value.
 */
export function classified(
  val: JsonText | null,
  claimed: string | null | undefined,
): ObjectClasses & { val: string } {
  const fields = classFields(val?.text ?? 'null')
  const kind = isRecord(fields['weave_type']) && fields['weave_type']['type'] === 'Op' ? 'op' : 'object'
  const own = classesOfInstance(fields)
  const text = val?.text ?? 'null'
  if (claimed == null) return { val: text, kind, ...own }
  if (!BUILTIN_CLASSES.has(claimed))
    throw invalidRequest(`Unknown builtin object class ${claimed.slice(0, 100)}`)
  if (!text.startsWith('{')) throw invalidRequest(`A value of class ${claimed} must be an object`)
  if (own.leaf_object_class === null) return { kind, ...instanceOf(claimed, text) }
  if (own.leaf_object_class !== claimed) {
    throw invalidRequest(`The value is of class ${own.leaf_object_class}, not ${claimed}`)
  }
  return { val: text, kind, ...own }
}

/** The class that a value states; a large value is not parsed for that. */
function classFields(text: string): Record<string, unknown> {
  const names = ['weave_type', '_bases', '_class_name']
  return Object.fromEntries(
    memberTexts(text, names).map((member, index) => [names[index], JSON.parse(member ?? 'null')]),
  )
}

/** A megabyte is parsed and checked in some 200 ms; values of these classes are descriptions and hold no data. */
const BUILTIN_CHARS_MAX = 1024 * 1024

function instanceOf(claimed: string, text: string) {
  if (text.length > BUILTIN_CHARS_MAX)
    throw tooLarge(`A value of class ${claimed} has more than ${BUILTIN_CHARS_MAX} characters`)
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
  const bases = Array.isArray(fields['_bases'])
    ? fields['_bases'].filter((base) => typeof base === 'string')
    : []
  const leaf = fields['_class_name']
  const isInstance = bases.at(-1) === 'BaseModel' && /^(Base)?Object$/.test(bases.at(-2) ?? '')
  if (!isInstance || typeof leaf !== 'string') return { base_object_class: null, leaf_object_class: null }
  return { base_object_class: bases.at(-3) ?? leaf, leaf_object_class: leaf }
}
