import { kindNamed } from '../../api/op-kinds.ts'
import { FIELDS, STATUS_WORDS } from './conditions.ts'
import type { Comparison, Operator } from './search.ts'

/**
 * What is typed into the search: terms with spaces between them, of which all must hold.
 *
 *     term   = ["-"] field ":" ( "*" | "*" text "*" | [operator] value ) | text
 *     value  = word | '"' characters '"'        in quotes, \" and \\ stand for " and \
 *     text   = word | '"' characters '"'
 *
 * A field is one that has a name of its own or a path that begins with `inputs.`, `output.`, `attributes.` or
 * `summary.`; any other word with a colon is text, such as an address. Times take `ms`, `s`, `m`, `min` or `h`.
 */
export interface SearchTerms {
  conditions: Comparison[]
  /** The other words, as they are looked for. */
  text: string
  /** Errors in terms, in sentences; the search does not run until there are none. */
  problems: string[]
}

const OPERATORS: readonly [string, Operator][] = [
  ['>=', 'gte'],
  ['<=', 'lte'],
  ['!=', 'isnt'],
  ['>', 'gt'],
  ['<', 'lt'],
  ['=', 'is'],
]

/** What the opposite of a term says; a minus before any other operator is a mistake. */
const OPPOSITES: Partial<Record<Operator, Operator>> = {
  is: 'isnt',
  isnt: 'is',
  has: 'lacks',
  gt: 'lte',
  gte: 'lt',
  lt: 'gte',
  lte: 'gt',
}

/** Other words for fields. */
const ALIASES: Record<string, string> = { latency: 'latency_ms' }

/** Other words for how a call stands. */
const STATUS_ALIASES: Record<string, string> = { ok: 'success', failed: 'error' }

const ROOTS = /^(inputs|output|attributes|summary)(\.|$)/

/** The field that a typed name means; undefined for a word that names none. */
export function fieldNamed(name: string): string | undefined {
  const field = Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name
  return Object.hasOwn(FIELDS, field) || ROOTS.test(field) ? field : undefined
}

export function parseSearch(typed: string): SearchTerms {
  const found: SearchTerms = { conditions: [], text: '', problems: [] }
  const words: string[] = []
  for (const term of termsIn(typed)) {
    const read = conditionIn(term)
    if (read === undefined) words.push(unquoted(term.text))
    else if ('problem' in read) found.problems.push(read.problem)
    else found.conditions.push(read)
  }
  return { ...found, text: words.filter((word) => word !== '').join(' ') }
}

/** A term and where it stands. */
export interface Term {
  text: string
  from: number
  to: number
}

const TERM = /(?:"(?:\\.|[^"\\])*"?|[^\s"])+/g
/** A unit that stands apart from its number. */
const APART = /^\s+(ms|s|min|m|h)(?=\s|$)/

/** The terms with their places; a space in quotes, or before the unit of a time, ends none. */
export function termsIn(typed: string): Term[] {
  const terms: Term[] = []
  TERM.lastIndex = 0
  for (let match = TERM.exec(typed); match !== null; match = TERM.exec(typed)) {
    const [text] = match
    const from = match.index
    let to = from + text.length
    const isTime = /^-?latency(_ms)?:[<>=!]*[\d.]+$/.test(text)
    const unit = isTime ? APART.exec(typed.slice(to))?.[0] : undefined
    if (unit !== undefined) to += unit.length
    TERM.lastIndex = to
    terms.push({ text: typed.slice(from, to), from, to })
  }
  return terms
}

/** A term in its parts, as far as it is written; undefined for one that is text. */
export function partsOf(
  text: string,
): { minus: string; name: string; field: string; rest: string } | undefined {
  const [, minus = '', name = '', rest = ''] = /^(-?)([\w.[\]\\-]+):(.*)$/s.exec(text) ?? []
  const field = fieldNamed(name)
  return field === undefined ? undefined : { minus, name, field, rest }
}

function conditionIn({ text }: Term): Comparison | { problem: string } | undefined {
  const parts = partsOf(text)
  if (parts === undefined) return undefined
  const { minus, name, field, rest } = parts
  const read = comparisonIn(field, rest)
  if (read === undefined)
    return { problem: `${name}: needs a value, for instance ${name}:${exampleFor(field)}` }
  if ('problem' in read || minus === '') return read
  const op = OPPOSITES[read.op]
  if (op === undefined)
    return { problem: `-${name}:${rest} cannot be asked: a minus goes with is, * and comparisons` }
  return { ...read, op }
}

function comparisonIn(field: string, rest: string): Comparison | { problem: string } | undefined {
  if (rest === '*') return { field, op: 'has', value: '' }
  const contained = /^\*(.+)\*$/s.exec(rest)?.[1]
  if (contained !== undefined) return { field, op: 'contains', value: unquoted(contained) }
  const [sign, op] = OPERATORS.find(([text]) => rest.startsWith(text)) ?? ['', 'is' as const]
  const value = unquoted(rest.slice(sign.length))
  if (value === '') return undefined
  return checked({ field, op, value })
}

/** Fields of which the values are known take no others. */
function checked({ field, op, value }: Comparison): Comparison | { problem: string } {
  if (field === 'latency_ms') {
    const ms = millisecondsOf(value)
    if (ms === undefined) return { problem: `latency:${value} is no time: write 250ms, 2s or 1.5min` }
    return { field, op, value: String(ms) }
  }
  if (field === 'status') {
    const status = STATUS_ALIASES[value] ?? value
    if (!STATUS_WORDS.includes(status))
      return { problem: `status:${value} is none: write ${STATUS_WORDS.join(', ')}` }
    return { field, op, value: status }
  }
  if (field === 'kind') return { field, op, value: kindNamed(value) ?? value }
  return { field, op, value }
}

function exampleFor(field: string): string {
  if (field === 'latency_ms') return '>2s'
  return field === 'status' ? 'error' : '*word*'
}

/** A value that needs quotes in them. */
export function quoted(value: string): string {
  return /^[^\s"\\*<>=!]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

function unquoted(text: string): string {
  return text.replaceAll(/"((?:\\.|[^"\\])*)"?/g, (_, inner: string) => inner.replaceAll(/\\(.)/g, '$1'))
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }

function millisecondsOf(text: string): number | undefined {
  const [, amount, unit = 'ms'] = /^(\d+\.?\d*|\.\d+)\s*(ms|s|min|m|h)?$/.exec(text) ?? []
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 1)
}
