import type { EngineLogPiece } from '../../api/system.ts'
import { plainText } from './ansi.ts'

/** Lines that are shown: what one reads back through, and what a browser draws without pause. */
export const LINES_MAX = 1000

export interface LogLine {
  /** Counts from the first line that was read on, so that a line keeps its number while others come. */
  number: number
  /** ISO 8601; undefined for a line that does not begin with its time. */
  at: string | undefined
  text: string
}

/** The end of a log, as far as it has been read. */
export interface LogTail {
  lines: readonly LogLine[]
  /** The byte that is read next. */
  until: number
}

const TIMED = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$/s

/** Adds a piece to what was read before; a piece from elsewhere begins anew. */
export function withPiece(before: LogTail | undefined, piece: EngineLogPiece): LogTail {
  const isNext = before !== undefined && before.until === piece.from
  if (isNext && piece.text === '') return before
  const known = isNext ? before.lines : []
  const first = (known.at(-1)?.number ?? 0) + 1
  const texts = piece.text.split('\n').slice(0, -1)
  const added = texts.map((line, index): LogLine => {
    const [, at, text = line] = TIMED.exec(line) ?? []
    return { number: first + index, at, text }
  })
  return { lines: [...known, ...added].slice(-LINES_MAX), until: piece.until }
}

/** The lines that contain a text, in any case. */
export function linesWith(lines: readonly LogLine[], text: string): readonly LogLine[] {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return lines
  return lines.filter((line) => plainText(line.text).toLowerCase().includes(wanted))
}
