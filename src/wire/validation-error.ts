import { z } from 'zod'
import { JsonText } from '../json/lossless-json.ts'
import { NO_INTEGER } from './lax-parse.ts'

/** One entry of a 422 body, in the words that FastAPI clients know. */
export interface ValidationDetail {
  type: string
  /** Path to the value; indexes are texts too. */
  loc: string[]
  msg: string
  input: unknown
  ctx?: Record<string, unknown>
}

/** The body of a 422. */
export const ValidationErrorBody = z
  .object({
    detail: z.array(
      z.object({
        type: z.string(),
        loc: z.array(z.string()),
        msg: z.string(),
        input: z.unknown(),
        ctx: z.record(z.string(), z.unknown()).optional(),
      }),
    ),
  })
  .meta({ id: 'ValidationError' })

/** A request that does not have the shape its route declares. */
export class ValidationFailure extends Error {
  readonly detail: readonly ValidationDetail[]

  constructor(detail: readonly ValidationDetail[]) {
    super(detail.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '))
    this.detail = detail
  }
}

/** Characters of an offending input that are echoed; whole bodies would make error replies as large as requests. */
const INPUT_CHARS_MAX = 200

/** Entries of a 422 body; a list of wrong elements would make a reply many times the size of its request. */
const DETAILS_MAX = 100

/** Translates zod's issues for one part of a request (`body`, `query`, `path`). */
export function validationFailure(part: string, error: z.ZodError, input: unknown): ValidationFailure {
  const issues = error.issues.slice(0, DETAILS_MAX)
  const detail = issues.flatMap((issue) => detailsOf(issue, [part], input))
  return new ValidationFailure(detail.slice(0, DETAILS_MAX))
}

/** The body was not JSON, at a character of it or, where each line is a document, in a line of it. */
export function jsonInvalid(error: SyntaxError, line?: number): ValidationFailure {
  const position = line ?? Number(/position (\d+)/.exec(error.message)?.[1] ?? 0)
  return new ValidationFailure([
    {
      type: 'json_invalid',
      loc: ['body', String(position)],
      msg: 'JSON decode error',
      input: {},
      ctx: { error: error.message.slice(0, INPUT_CHARS_MAX) },
    },
  ])
}

/** What `parse` makes of JSON. @throws ValidationFailure for what is no JSON */
export function asJson<Result>(parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw error instanceof SyntaxError ? jsonInvalid(error) : error
  }
}

function detailsOf(issue: z.core.$ZodIssue, prefix: readonly string[], root: unknown): ValidationDetail[] {
  const loc = [...prefix, ...issue.path.map(String)]
  const input = valueAt(root, issue.path)
  if (issue.code === 'invalid_union') {
    const best = [...issue.errors].sort((a, b) => deepest(b) - deepest(a))[0]
    if (best !== undefined && best.length > 0) {
      return best
        .slice(0, DETAILS_MAX)
        .flatMap((inner) => detailsOf({ ...inner, path: [...issue.path, ...inner.path] }, prefix, root))
    }
  }
  return [{ ...wording(issue, input), loc, input: summary(input) }]
}

function deepest(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((depth, issue) => Math.max(depth, issue.path.length), 0)
}

const TYPE_WORDS: Record<string, { type: string; msg: string }> = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  number: { type: 'float_type', msg: 'Input should be a valid number' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  boolean: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  array: { type: 'list_type', msg: 'Input should be a valid list' },
  object: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
  record: { type: 'dict_type', msg: 'Input should be a valid dictionary' },
}

/** Zod issue → the error type and message of FastAPI services. */
function wording(issue: z.core.$ZodIssue, input: unknown): Omit<ValidationDetail, 'loc' | 'input'> {
  if (input === undefined && issue.code !== 'unrecognized_keys')
    return { type: 'missing', msg: 'Field required' }
  switch (issue.code) {
    case 'invalid_type':
      if (issue.message === NO_INTEGER) return { type: 'int_type', msg: NO_INTEGER }
      return TYPE_WORDS[issue.expected] ?? { type: `${issue.expected}_type`, msg: issue.message }
    case 'too_small':
      return bound('greater', 'too_short', Number(issue.minimum), issue)
    case 'too_big':
      return bound('less', 'too_long', Number(issue.maximum), issue)
    case 'invalid_value': {
      const expected = issue.values
        .map((value) => (typeof value === 'string' ? `'${value}'` : String(value)))
        .join(' or ')
      return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
    }
    case 'invalid_format':
      return issue.format === 'uuid'
        ? { type: 'uuid_parsing', msg: 'Input should be a valid UUID' }
        : { type: `${issue.format}_format`, msg: issue.message }
    case 'custom': {
      const type: unknown = issue.params?.['type']
      return { type: typeof type === 'string' ? type : 'value_error', msg: issue.message }
    }
    default:
      return { type: issue.code, msg: issue.message }
  }
}

interface Bounded {
  origin: string
  inclusive?: boolean | undefined
}

function bound(
  word: 'greater' | 'less',
  lengthType: 'too_short' | 'too_long',
  limit: number,
  issue: Bounded,
): Omit<ValidationDetail, 'loc' | 'input'> {
  if (issue.origin === 'string') {
    const type = `string_${lengthType}`
    const most = lengthType === 'too_long' ? 'at most' : 'at least'
    return { type, msg: `String should have ${most} ${limit} characters`, ctx: { limit } }
  }
  if (issue.origin === 'array' || issue.origin === 'set') {
    const most = lengthType === 'too_long' ? 'at most' : 'at least'
    return { type: lengthType, msg: `List should have ${most} ${limit} items`, ctx: { limit } }
  }
  const inclusive = issue.inclusive === true
  const short = `${word === 'greater' ? 'g' : 'l'}${inclusive ? 'e' : 't'}`
  return {
    type: `${word}_than${inclusive ? '_equal' : ''}`,
    msg: `Input should be ${word} than ${inclusive ? 'or equal to ' : ''}${limit}`,
    ctx: { [short]: limit },
  }
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root
  for (const step of path) {
    if (value instanceof JsonText) value = value.value()
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[step]
  }
  return value
}

function summary(input: unknown): unknown {
  if (input === undefined) return null
  const text = startOfJson(input, INPUT_CHARS_MAX)
  return text.length <= INPUT_CHARS_MAX ? input : `${text.slice(0, INPUT_CHARS_MAX)}…`
}

/** The JSON of a value, or the first `chars` characters and some more: writing all of a large one takes seconds. */
function startOfJson(value: unknown, chars: number): string {
  if (value instanceof JsonText) return value.text.slice(0, chars + 1)
  if (typeof value === 'string') return JSON.stringify(value.slice(0, chars + 1))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (ArrayBuffer.isView(value)) return `"${value.byteLength} bytes"`
  const isList = Array.isArray(value)
  let text = isList ? '[' : '{'
  for (const [key, member] of Object.entries(value)) {
    if (text.length > chars) return text
    if (text.length > 1) text += ','
    if (!isList) text += `${JSON.stringify(key.slice(0, chars))}:`
    text += startOfJson(member, chars - text.length)
  }
  return text + (isList ? ']' : '}')
}
