import type { Params } from './params.ts'

/** The database does not look up shorter words (`text_index_like_min_pattern_length`). */
const WORD_CHARS_MIN = 4

/** Parts of words to look up: more hardly exclude further rows, and each takes time to plan. */
const PARTS_MAX = 3

/** Whole words to look up. Each is found at once, and even frequent ones are seldom together. */
const WHOLE_MAX = 8

/** With fewer whole words, parts of words exclude more. */
const WHOLE_MIN = 2

const WORDS = new RegExp(`[a-z]{${WORD_CHARS_MIN},}`, 'g')

/** Words of a text that something else than a letter comes before and after. */
const WHOLE_WORDS = /(?<=[^a-z])[a-z]{2,}(?=[^a-z])/g

/** How JSON begins to spell any character below 256 by its number. */
const NUMBERED_BEGINNING = String.raw`\\u00`

/**
 * How JSON may spell an ASCII character by its number, such as `\u0041`, up to the last digit; as SQL. Control
 * characters count as well: the database writes the text of an object anew, with `\n` for `\u000a`.
 */
const NUMBERED = String.raw`['\\u000', '\\u001', '\\u002', '\\u003', '\\u004', '\\u005', '\\u006', '\\u007']`

/** A word that documents with such characters have besides: any word may be hidden there. */
const NUMBERED_WORD = 'qzxnumberedqzx'

/** SQL that is true for a JSON document that may contain any text of printable ASCII without showing it. */
export function hasNumberedSql(document: string): string {
  // One search takes half as long as eight, and most documents have no such beginning.
  return `(position(assumeNotNull(${document}), '${NUMBERED_BEGINNING}') > 0 AND ${isNumberedSql(document)})`
}

function isNumberedSql(document: string): string {
  return `multiSearchAny(assumeNotNull(${document}), ${NUMBERED})`
}

/**
 * The expression whose words are indexed (migrations/trace/0008_word_indexes.sql): a document without upper case and
 * digits.
 */
export function wordsSql(document: string): string {
  const text = `assumeNotNull(${document})`
  const marked = `if(${isNumberedSql(document)}, concat(${text}, ' ${NUMBERED_WORD}'), ${text})`
  return `lower(translate(${marked}, '0123456789', '          '))`
}

/**
 * SQL that an index of words decides: true for every document in which any of some texts of printable ASCII may occur,
 * in upper or lower case; undefined where the index cannot exclude documents, since a text has no word that is long
 * enough. A word between two others is a word of the document too. The first and the last may be parts of words there,
 * for which all words of the index are searched.
 */
export function hasWordsSql(document: string, texts: readonly string[], params: Params): string | undefined {
  const words = wordsSql(document)
  const hasAll = (whole: readonly string[]): string =>
    `hasAllTokens(${words}, ${params.bind(whole, 'Array(String)')})`
  const hasPart = (part: string): string => `${words} LIKE ${params.bind(`%${part}%`, 'String')}`
  const ofTexts = texts.map((text) => {
    const whole = longest(text.toLowerCase().match(WHOLE_WORDS), WHOLE_MAX)
    if (whole.length >= WHOLE_MIN) return hasAll(whole)
    return longest(text.toLowerCase().match(WORDS), PARTS_MAX).map(hasPart).join(' AND ')
  })
  if (ofTexts.some((sql) => sql === '')) return undefined
  const isNumbered = `hasToken(${words}, ${params.bind(NUMBERED_WORD, 'String')})`
  return [...ofTexts, isNumbered].map((sql) => `(${sql})`).join(' OR ')
}

function longest(words: readonly string[] | null, count: number): string[] {
  return [...new Set(words)].sort((a, b) => b.length - a.length).slice(0, count)
}
