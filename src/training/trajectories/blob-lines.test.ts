import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { linesOf } from './blob-lines.ts'

/** Blobs that are all made of these pieces. */
function blobsOf(pieces: Iterable<Uint8Array>) {
  const bytes = Readable.from(pieces, { objectMode: false, highWaterMark: 1 })
  return { bytes, open: async () => ({ size: 0, bytes }) }
}

async function textsOf(pieces: Iterable<Uint8Array>): Promise<string[]> {
  return (await Array.fromAsync(linesOf(blobsOf(pieces), 'key'))).map(String)
}

describe('linesOf', () => {
  it('ends lines at line feeds alone, wherever the bytes are cut', async () => {
    const lines = ['{"a": "ü\u2028😀\u2029"}', '', '{"b": "\r"}', 'the last']
    for (const end of ['', '\n']) {
      const all = Buffer.from(lines.join('\n') + end)
      for (let size = 1; size <= all.length; size++) {
        const pieces = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
          all.subarray(index * size, (index + 1) * size),
        )
        expect(await textsOf(pieces)).toEqual(lines)
      }
    }
    expect(await textsOf([])).toEqual([])
  })

  it('reads no further than the line that is asked for', async () => {
    let read = 0
    function* pieces() {
      for (; read < 500; read++) yield Buffer.from('a line\n')
    }
    const blobs = blobsOf(pieces())
    for await (const line of linesOf(blobs, 'key')) {
      expect(line.toString()).toBe('a line')
      // Whatever reads ahead gets the time for it.
      await new Promise((resolve) => setTimeout(resolve, 20))
      expect(read).toBeLessThan(10)
      if (read > 3) break
    }
    expect(blobs.bytes.destroyed).toBe(true)
  })

  it('fails where there is no blob', async () => {
    const missing = { open: async () => undefined }
    await expect(linesOf(missing, 'key').next()).rejects.toThrow('The trajectories key are missing')
  })
})
