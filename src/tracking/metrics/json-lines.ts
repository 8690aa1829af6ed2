import { isRecord } from '../../json/is-record.ts'
import { endOfString, JsonNumber, stringify } from '../../json/lossless-json.ts'
import { parseShallow } from '../../json/parse-shallow.ts'

/** A line of a run's history or of its machine's metrics. */
export type Line = Record<string, unknown>

/** Numbers that JSON does not have, as clients write them. */
const BARE_WORDS = ['NaN', '-NaN', 'Infinity', '-Infinity']

/** Prefix for the names of numbers that JSON does not have; no client's text begins with it. */
const MARK = '\u0000'

/** Whole numbers of as many digits as a number may not hold, and what looks like one in a string. */
const LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/

/**
 * Parses an object. Wire: clients write `NaN` and `Infinity` as bare words. Whole numbers that a number does not hold
 * become a `JsonNumber`, which keeps their digits.
 * @returns undefined for what is no object, and for one of too many levels, which could not be written again.
 */
export function parseLine(text: string): Line | undefined {
  const value =
    parse(text, LONG_INTEGER.test(text) ? revive : undefined) ?? parse(withoutBareWords(text), revive)
  return isRecord(value) ? value : undefined
}

function parse(text: string, reviver: typeof revive | undefined): unknown {
  try {
    return parseShallow(text, reviver)
  } catch {
    return undefined
  }
}

/** One pass, since a pattern for strings would be tried anew from each quote of one without an end. */
function withoutBareWords(text: string): string {
  const parts: string[] = []
  let taken = 0
  let at = 0
  while (at < text.length) {
    const word = bareWordAt(text, at)
    if (word === undefined) {
      at = text[at] === '"' ? endOfString(text, at) || text.length : at + 1
    } else {
      parts.push(text.slice(taken, at), JSON.stringify(MARK + word))
      at += word.length
      taken = at
    }
  }
  return parts.join('') + text.slice(taken)
}

function bareWordAt(text: string, at: number): string | undefined {
  if (!'NI-'.includes(text.charAt(at))) return undefined
  return BARE_WORDS.find((word) => text.startsWith(word, at))
}

function revive(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  if (typeof value === 'number' && source !== undefined && isLong(value, source))
    return new JsonNumber(source)
  return typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(1)) : value
}

function isLong(value: number, source: string): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
}

/** A value as clients write it, with bare words for numbers that JSON does not have. */
export function textOf(value: unknown): string {
  const text = stringify(value)
  // Only a null may have been such a number.
  return text.includes('null') ? (JSON.stringify(value, markNumber) ?? 'null').replaceAll(MARKED, '$1') : text
}

function markNumber(_key: string, value: unknown): unknown {
  if (value instanceof JsonNumber) return MARK + value.source
  return typeof value === 'number' && !Number.isFinite(value) ? MARK + value : value
}

const MARKED = /"\\u0000(NaN|-?Infinity|-?\d+)"/g
