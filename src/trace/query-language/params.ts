import { invalidRequest, tooLarge } from '../../errors.ts'

/**
 * Values that one list of a request may have. Clients send 10,000; a query with a set of 50,000 short texts takes some
 * 40 ms to plan.
 */
const LISTED_MAX = 50_000

/** Characters of all values of a query together: the database plans with at most 0.2 s for each million of them. */
const VALUES_CHARS_MAX = 4 * 1024 * 1024

/** Collects values that SQL refers to by placeholders, so that values never enter the text. */
export interface Params {
  /**
   * Binds a value and returns its placeholder, such as `{v3:String}`.
   * @throws 413 when the texts of a query have more characters than it may hold together.
   */
  bind(value: unknown, type: string): string
  /** Binds the project whose rows are selected, which is the owner of the query (stores/trace-db/port.ts). */
  bindProject(id: string): string
  /**
   * Binds the texts of a list of the request and returns SQL for their set.
   * @throws 400 for too many, 413 as `bind`.
   */
  bindTexts(texts: readonly string[]): string
  /** Binds a number and returns SQL for it. */
  bindNumber(value: number): string
  /**
   * Binds the numbers of a list of the request and returns SQL for their set.
   * @throws 400 for too many, 413 as `bind`.
   */
  bindNumbers(values: readonly number[]): string
  /** Binds ids of any number, none of which has a space, and returns SQL for their set. */
  bindIds(ids: readonly string[]): string
  values: Record<string, unknown>
}

/** A long list takes less time to parse as one text than as an array of literals. */
const ARRAY_MAX = 200

/**
 * ClickHouse (26.7) treats a constant of 1 MiB and more as a value that changes from row to row, and compares each row
 * with one element after the other: 50,000 texts and 150,000 rows took a minute. A set that comes from a subquery is
 * made once.
 */
const ARRAY_CHARS_MAX = 64 * 1024

/** Whole numbers beyond 2^53, and what is no number, travel as texts. */
function isSendable(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
}

export function createParams(): Params {
  const values: Record<string, unknown> = {}
  let bound = 0
  let chars = 0

  function keep(value: unknown, type: string): string {
    const name = `v${bound++}`
    values[name] = value
    return `{${name}:${type}}`
  }

  function bind(value: unknown, type: string): string {
    chars += charsOf(value)
    checkChars(chars)
    return keep(value, type)
  }

  return {
    values,
    bind,
    bindProject(id) {
      if ('project_id' in values && values['project_id'] !== id) return bind(id, 'String')
      values['project_id'] = id
      return '{project_id:String}'
    },
    bindTexts(texts) {
      checkListed(texts)
      return texts.length <= ARRAY_MAX && charsOf(texts) <= ARRAY_CHARS_MAX
        ? bind(texts, 'Array(String)')
        : `(SELECT arrayJoin(JSONExtract(${bind(jsonOf(texts), 'String')}, 'Array(String)')))`
    },
    bindNumber: (value) =>
      isSendable(value) ? bind(value, 'Float64') : `toFloat64(${bind(String(value), 'String')})`,
    bindNumbers(numbers) {
      checkListed(numbers)
      return numbers.every(isSendable)
        ? bind(numbers, 'Array(Float64)')
        : `arrayMap(text -> toFloat64(text), ${bind(numbers.map(String), 'Array(String)')})`
    },
    bindIds: (ids) =>
      ids.length <= ARRAY_MAX
        ? keep(ids, 'Array(String)')
        : `(SELECT arrayJoin(splitByChar(' ', ${keep(ids.join(' '), 'String')})))`,
  }
}

/** @throws 400 for more texts than one list may have, 413 for longer ones than a query may have together. */
export function checkTexts(texts: readonly string[]): void {
  checkListed(texts)
  checkChars(charsOf(texts))
}

function checkChars(chars: number): void {
  if (chars > VALUES_CHARS_MAX)
    throw tooLarge(`The values of a query have more than ${VALUES_CHARS_MAX} characters together`)
}

function checkListed(values: readonly unknown[]): void {
  if (values.length > LISTED_MAX) throw invalidRequest(`A list of values has at most ${LISTED_MAX}`)
}

/** Half a surrogate pair, which is stored as U+FFFD, would make the whole text one that the database cannot parse. */
function jsonOf(texts: readonly string[]): string {
  return JSON.stringify(texts.map((text) => text.toWellFormed()))
}

function charsOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value === 'number') return String(value).length
  return Array.isArray(value) ? value.reduce((sum: number, one) => sum + charsOf(one), 0) : 0
}
