import { isRecord } from '../../is-record.ts'

/** A line of a run's history or of its machine's metrics. */
export type Line = Record<string, unknown>

const STRING_OR_NOT_FINITE = /"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/g

/** Prefix for the names of numbers that JSON does not have; no client's text begins with it. */
const MARK = '\u0000'

/**
 * Parses an object. Wire: clients write `NaN` and `Infinity` as bare words.
 * @returns undefined for what is no object.
 */
export function parseLine(text: string): Line | undefined {
  const value = parse(text) ?? parse(withoutBareWords(text), revive)
  return isRecord(value) ? value : undefined
}

function parse(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, reviver)
  } catch {
    return undefined
  }
}

function withoutBareWords(text: string): string {
  return text.replaceAll(STRING_OR_NOT_FINITE, (token) =>
    token.startsWith('"') ? token : JSON.stringify(MARK + token),
  )
}

function revive(_key: string, value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(1)) : value
}

/** A value as clients write it, with bare words for numbers that JSON does not have. */
export function textOf(value: unknown): string {
  return typeof value === 'number' && !Number.isFinite(value)
    ? String(value)
    : (JSON.stringify(value) ?? 'null')
}
