import { describe, expect, it } from 'vitest'
import { untilException } from './reply-exception.ts'

const TAG = 'PU1FNUFH98ABCDEF'
const MESSAGE = 'Code: 241. DB::Exception: Memory limit exceeded (MEMORY_LIMIT_EXCEEDED)\n'
const EXCEPTION = `\r\n__exception__\r\n${TAG}\n${MESSAGE}${MESSAGE.length} ${TAG}\r\n__exception__\r\n`

async function* reply(pieces: readonly string[]) {
  for (const piece of pieces) yield Buffer.from(piece, 'latin1')
}

/** What is passed on of a reply, and the error that it ends with. */
async function passed(pieces: AsyncIterable<Buffer>, tag: string | undefined = TAG) {
  let text = ''
  try {
    for await (const piece of untilException(pieces, tag)) {
      expect(piece.length).toBeGreaterThan(0)
      text += piece.toString('latin1')
    }
  } catch (error) {
    return { text, error }
  }
  return { text }
}

/** A text cut once, at each place. */
function cutOnce(text: string): string[][] {
  return Array.from({ length: text.length }, (_, at) => [text.slice(0, at), text.slice(at)])
}

describe('untilException', () => {
  it.each(['', '{"a":1}\n', 'a\r', '\r\n__exc'])(
    'finds an exception after %j, wherever it is cut',
    async (rows) => {
      const whole = rows + EXCEPTION
      for (const pieces of [[whole], [...whole], ...cutOnce(whole)]) {
        const filled = pieces.filter((piece) => piece !== '')
        const { text, error } = await passed(reply(filled))
        expect(text).toBe(rows)
        expect(error).toMatchObject({ code: '241', type: 'MEMORY_LIMIT_EXCEEDED' })
      }
    },
  )

  it('passes on all bytes without one, also those that a marker could begin with', async () => {
    const whole = `a\r\r\n__exception__\r\n${TAG.slice(0, -1)}b\r\n__exc`
    for (const pieces of [[whole], [...whole], ...cutOnce(whole)])
      expect(await passed(reply(pieces.filter((piece) => piece !== '')))).toEqual({ text: whole })
  })

  it('looks for none without a tag', async () => {
    expect(await passed(reply(['a', EXCEPTION]))).toMatchObject({ text: 'a' })
    const pieces: string[] = []
    for await (const piece of untilException(reply(['a', EXCEPTION]), undefined)) pieces.push(String(piece))
    expect(pieces).toEqual(['a', EXCEPTION])
  })

  it('fails with the error of the connection only where no exception came before it', async () => {
    async function* broken(text: string) {
      yield Buffer.from(text)
      throw new Error('aborted')
    }
    expect(await passed(broken('rows'))).toMatchObject({ text: 'rows', error: { message: 'aborted' } })
    expect(await passed(broken(`rows${EXCEPTION}`))).toMatchObject({ text: 'rows', error: { code: '241' } })
  })
})
