import { z } from 'zod'
import { invalidRequest, tooLarge } from '../../errors.ts'
import { countJsonValues } from '../../json/count-json-values.ts'
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../json/json-limits.ts'
import { NestedTooDeeply, parseShallow } from '../../json/parse-shallow.ts'
import { createLineCutter } from '../../line-cutter.ts'
import { FIRST_ISSUE } from '../../wire/lax-parse.ts'
import { jsonInvalid, validationFailure } from '../../wire/validation-error.ts'
import { TrainingLine } from './wire.ts'

/** One conversation is held in memory while it is checked. */
const LINE_BYTES_MAX = 16 * 1024 * 1024

/** JSON Lines, checked while they stream. */
export interface CheckedLines {
  /**
   * The unchanged bytes.
   * @throws 422 that names the first invalid line, 413 for a line over a limit, 400 for one nested too deeply or no
   * line.
   */
  bytes(): AsyncGenerator<Uint8Array>
  /** Lines that were not blank. */
  count(): number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Checks every line of a stream; memory holds one line at a time. */
export function checkedLines(stream: AsyncIterable<Uint8Array>): CheckedLines {
  let line = 0
  let count = 0

  function check(bytes: Uint8Array): void {
    line++
    if (countJsonValues(bytes, JSON_VALUES_MAX) > JSON_VALUES_MAX)
      throw tooLarge(`Line ${line} has more than ${JSON_VALUES_MAX} values`)
    let value: unknown
    try {
      const text = utf8.decode(bytes).trim()
      if (text === '') return
      count++
      value = parseShallow(text)
    } catch (error) {
      if (error instanceof NestedTooDeeply)
        throw invalidRequest(`Line ${line} is nested more than ${JSON_DEPTH_MAX} levels deep`)
      // Invalid UTF-8 is a TypeError.
      if (error instanceof TypeError) throw jsonInvalid(new SyntaxError('The line is not UTF-8'), line)
      throw error instanceof SyntaxError ? jsonInvalid(error, line) : error
    }
    const checked = TrainingLine.safeParse(value, FIRST_ISSUE)
    if (checked.success) return
    const inBody = checked.error.issues.map((issue) => ({ ...issue, path: [line, ...issue.path] }))
    throw validationFailure('body', new z.ZodError(inBody), { [line]: value })
  }

  return {
    async *bytes() {
      const cutter = createLineCutter()
      for await (const chunk of stream) {
        for (const bytes of cutter.push(chunk)) check(bytes)
        if (cutter.heldBytes() > LINE_BYTES_MAX)
          throw tooLarge(`A line may have ${LINE_BYTES_MAX} bytes at most`)
        yield chunk
      }
      check(cutter.rest())
      if (count === 0) throw noConversation()
    },
    count: () => count,
  }
}

/** Passes bytes on. @throws 400 at their end where all lines were blank */
export async function* withConversation(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let areBlank = true
  for await (const chunk of stream) {
    areBlank &&= isBlank(chunk)
    yield chunk
  }
  if (areBlank) throw noConversation()
}

/** @throws 400 where all lines are blank; no more is read than it takes to know */
export async function requireConversation(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of stream) if (!isBlank(chunk)) return
  throw noConversation()
}

/** What Python's `bytes.strip` takes off, by which the trainer skips blank lines. */
const BLANK = new Set(Buffer.from(' \t\n\r\v\f'))

function isBlank(bytes: Uint8Array): boolean {
  return bytes.every((byte) => BLANK.has(byte))
}

function noConversation(): Error {
  return invalidRequest('The training data has no conversation', 'training_data_url')
}
