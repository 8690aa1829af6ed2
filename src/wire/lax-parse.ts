import { z } from 'zod'

/** A pass reads values that the previous pass could not reach; unions inside unions are rarely nested deeper. */
const PASSES_MAX = 8

/**
 * zod stops at the error in a list or an object, and not in a record (src/bounded-wire.ts); its types show this only to
 * code that extends it.
 */
export const FIRST_ISSUE: z.core.ParseContextInternal<z.core.$ZodIssue> = {
  error: integerError,
  abortEarly: true,
}

/** Longer texts are not numbers that a field could hold. */
const NUMBER_CHARS_MAX = 64

const NUMBER = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i
const TRUE = ['true', 'yes', 'on', 'y', 't', '1']
const FALSE = ['false', 'no', 'off', 'n', 'f', '0']

/** How many errors are searched for. */
interface Issues {
  issues?: 'all' | 'first'
}

/**
 * Whether a schema refuses members that it does not know. Bodies of clients of the hosted services do not; those that
 * do are of Heddle's own endpoints, whose numbers are numbers: `true` is not one day.
 */
export function isStrict(schema: z.ZodType): boolean {
  return schema instanceof z.ZodObject && schema.def.catchall instanceof z.ZodNever
}

/**
 * Parses a part of a request as the services whose clients we serve read it, which is pydantic's lax mode: where a
 * number is wanted, the text "5" is 5 and true is 1; where a boolean is wanted, 1 and the words "true", "yes", "on",
 * "y", "t" are true, in upper or lower case, and their opposites false. Nothing else is converted. A valid value is
 * never converted, so a text stays a text where a field takes both. With `first`, further errors are not searched for
 * once the first one cannot be converted.
 */
export function parseLax<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { issues = 'all' }: Issues = {},
): z.ZodSafeParseResult<z.output<Schema>> {
  if (issues === 'first') {
    const parsed = parseStrict(schema, value, { issues })
    const isRepairable = parsed.error?.issues.some((issue) => readingsOf(issue, [], value).length > 0)
    if (isRepairable !== true) return parsed
  }
  let current = value
  for (let pass = 1; ; pass++) {
    const parsed = parseStrict(schema, current)
    if (parsed.success || pass === PASSES_MAX) return parsed
    const readings = parsed.error.issues.flatMap((issue) => readingsOf(issue, [], current))
    if (readings.length === 0) return parsed
    current = withReadings(current, readings)
  }
}

/** Parses a part of a request without a conversion; errors read like those of {@link parseLax}. */
export function parseStrict<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  { issues = 'all' }: Issues = {},
): z.ZodSafeParseResult<z.output<Schema>> {
  return schema.safeParse(value, issues === 'first' ? FIRST_ISSUE : { error: integerError })
}

/** Zod's message for a text where an integer is expected speaks of a number; this one is clearer. */
export const NO_INTEGER = 'Input should be a valid integer'

function integerError({ code, inst }: z.core.$ZodRawIssue): string | undefined {
  const format = (inst as z.ZodType | undefined)?.def
  return code === 'invalid_type' && format !== undefined && 'format' in format && format.format === 'safeint'
    ? NO_INTEGER
    : undefined
}

/** Values and their paths. */
interface Reading {
  path: readonly PropertyKey[]
  value: number | boolean
}

/** Conversions of the values at fault; none for an issue that no conversion fixes. */
function readingsOf(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[], root: unknown): Reading[] {
  const path = [...prefix, ...issue.path]
  if (issue.code === 'invalid_union') {
    const alternatives = issue.errors.map((issues) => issues.map((inner) => readingsOf(inner, path, root)))
    // An alternative is used when all its issues can be fixed.
    const repairs = alternatives.find((all) => all.length > 0 && all.every((found) => found.length > 0))
    return repairs?.flat() ?? []
  }
  if (issue.code !== 'invalid_type' || path.includes('__proto__')) return []
  const value = laxValue(issue.expected, valueAt(root, path))
  return value === undefined ? [] : [{ path, value }]
}

function laxValue(expected: string, value: unknown): number | boolean | undefined {
  if (expected === 'boolean') return booleanOf(value)
  return expected === 'number' || expected === 'int' ? numberOf(value) : undefined
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value)
  const isText = typeof value === 'string' && value.length <= NUMBER_CHARS_MAX
  return isText && NUMBER.test(value) ? Number(value) : undefined
}

function booleanOf(value: unknown): boolean | undefined {
  if (value === 0 || value === 1) return value === 1
  if (typeof value !== 'string') return undefined
  const word = value.toLowerCase()
  if (TRUE.includes(word)) return true
  return FALSE.includes(word) ? false : undefined
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

/** A copy with other values at some paths. */
function withReadings(root: unknown, readings: readonly Reading[]): unknown {
  const copies = new Set<object>()
  const copyOf = (value: unknown): object => {
    const isCopied = typeof value === 'object' && value !== null && copies.has(value)
    const copy: object = isCopied ? value : Array.isArray(value) ? [...value] : { ...(value as object) }
    copies.add(copy)
    return copy
  }
  const holder = { root }
  for (const { path, value } of readings) {
    let parent: object = holder
    let key: PropertyKey = 'root'
    for (const step of path) {
      const copy = copyOf(Reflect.get(parent, key))
      Reflect.set(parent, key, copy)
      parent = copy
      key = step
    }
    Reflect.set(parent, key, value)
  }
  return holder.root
}
