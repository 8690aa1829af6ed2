import { invalidRequest, notImplemented } from '../../errors.ts'
import type { JsonText } from '../../lossless-json.ts'

export interface ObjectClasses {
  kind: 'op' | 'object'
  base_object_class: string | null
  leaf_object_class: string | null
}

/** Classes the service itself defines; values sent under their names without being of them are checked against them. */
const BUILTIN_CLASSES = new Set([
  'ActionSpec',
  'AgentDashboard',
  'AlertSpec',
  'AnnotationSpec',
  'ChartConfig',
  'ComparisonView',
  'LLMStructuredCompletionModel',
  'Leaderboard',
  'Provider',
  'ProviderModel',
  'SavedView',
])

/**
 * Reads kind and classes off a value. Wire: a class instance lists its bases in `_bases`, which end with Object (or
 * BaseObject) and BaseModel; the one before those is the base class.
 * @throws 400 when `claimed` contradicts the value; 501 when it would have to be checked against a builtin class.
 */
export function classesOf(val: JsonText | null, claimed: string | null | undefined): ObjectClasses {
  const value = val?.value()
  const fields = isObject(value) ? value : {}
  const kind = isObject(fields['weave_type']) && fields['weave_type']['type'] === 'Op' ? 'op' : 'object'
  const own = classesOfInstance(fields)
  if (claimed == null) return { kind, ...own }
  if (!BUILTIN_CLASSES.has(claimed))
    throw invalidRequest(`Unknown builtin object class ${claimed.slice(0, 100)}`)
  if (!isObject(value)) throw invalidRequest(`A value of class ${claimed} must be an object`)
  if (own.leaf_object_class === null)
    throw notImplemented(`Values without _bases for class ${claimed} are not supported`)
  if (own.leaf_object_class !== claimed) {
    throw invalidRequest(`The value is of class ${own.leaf_object_class}, not ${claimed}`)
  }
  return { kind, ...own }
}

function classesOfInstance(fields: Record<string, unknown>): Omit<ObjectClasses, 'kind'> {
  const bases = Array.isArray(fields['_bases']) ? fields['_bases'].map(String) : []
  const leaf = fields['_class_name']
  const isInstance = bases.at(-1) === 'BaseModel' && /^(Base)?Object$/.test(bases.at(-2) ?? '')
  if (!isInstance || typeof leaf !== 'string') return { base_object_class: null, leaf_object_class: null }
  return { base_object_class: bases.at(-3) ?? leaf, leaf_object_class: leaf }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
