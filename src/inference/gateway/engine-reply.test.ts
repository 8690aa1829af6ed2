import { describe, expect, it } from 'vitest'
import { ReplyTooLarge, readText } from './engine-reply.ts'
import { usageAtEnd } from './reply-rewriter.ts'

const USAGE = { prompt_tokens: 3, total_tokens: 12, completion_tokens: 9, prompt_tokens_details: null }

/** A reply of so many MiB before its end. */
const replyOf = (mebibytes: number, end: string) => ({
  status: 200,
  async read(onChunk: (chunk: Uint8Array) => void) {
    const piece = Buffer.alloc(1024 * 1024, 'a')
    for (let index = 0; index < mebibytes; index++) onChunk(piece)
    onChunk(Buffer.from(end))
  },
})

describe('readText', () => {
  it('of a reply that is too large keeps the end, with the usage that counts for budgets', async () => {
    const end = `"}],"usage":${JSON.stringify(USAGE)},"prompt_logprobs":null}`
    const error = await readText(replyOf(64, end)).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ReplyTooLarge)
    expect(error).toMatchObject({ status: 400, message: expect.stringContaining('stream it') })
    expect(usageAtEnd(error instanceof ReplyTooLarge ? error.end : '')).toMatchObject({
      prompt_tokens: 3,
      completion_tokens: 9,
    })
  })

  it('reads others whole', async () => {
    expect(await readText(replyOf(0, '{}'))).toBe('{}')
    expect(usageAtEnd('{"text":"\\"usage\\":{}"}')).toBeUndefined()
  })
})
