import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Blobs, readBlob } from './port.ts'

/** The tests that every adapter of the blob store must pass. */
export function blobsContract(open: () => Promise<Blobs>): void {
  describe('blobs', () => {
    let blobs: Blobs
    beforeAll(async () => {
      blobs = await open()
    })
    afterAll(() => blobs[Symbol.asyncDispose]())

    it('gets what was put, from memory or a stream', async () => {
      await blobs.put('a/bytes', Buffer.from([0, 255]))
      await blobs.put('a/stream', Readable.from([Buffer.from('from '), Buffer.from('a stream')]))
      expect(await readBlob(blobs, 'a/bytes')).toEqual(Buffer.from([0, 255]))
      expect(String(await readBlob(blobs, 'a/stream'))).toBe('from a stream')
    })

    it('reads the existing bytes of a range, and always reports the size of the blob', async () => {
      await blobs.put('range', Buffer.from('0123456789'))
      const ranges = [{ start: 0 }, { start: 3, end: 5 }, { start: 9, end: 99 }, { start: 10 }, { start: 99 }]
      const read = await Promise.all(ranges.map((range) => readBlob(blobs, 'range', range)))
      expect(read.map(String)).toEqual(['0123456789', '345', '9', '', ''])
      for (const range of [undefined, ...ranges]) {
        const found = await blobs.open('range', range)
        expect(found?.size).toBe(10)
        found?.bytes.destroy()
      }
    })

    it('reads a blob of many pieces, and one without bytes', async () => {
      const pieces = Array.from({ length: 50 }, (_, index) => Buffer.alloc(10_007, index))
      await blobs.put('large', Readable.from(pieces))
      expect((await readBlob(blobs, 'large'))?.equals(Buffer.concat(pieces))).toBe(true)
      const range = { start: 10_006, end: 10_007 }
      expect(await readBlob(blobs, 'large', range)).toEqual(Buffer.from([0, 1]))
      await blobs.put('empty', Buffer.alloc(0))
      expect(await readBlob(blobs, 'empty')).toEqual(Buffer.alloc(0))
    })

    it('reports the size of a blob and when it was put, as a list does', async () => {
      await blobs.put('stat/a', Buffer.from('four'))
      const [listed] = await Array.fromAsync(blobs.list('stat/'))
      expect(await blobs.stat('stat/a')).toEqual({ size: 4, modifiedAt: listed?.modifiedAt })
    })

    it('accepts the same key twice, and has nothing for unknown keys', async () => {
      await blobs.put('twice', Buffer.from('same'))
      await blobs.put('twice', Buffer.from('same'))
      expect(String(await readBlob(blobs, 'twice'))).toBe('same')
      expect(await readBlob(blobs, 'unknown')).toBeUndefined()
      expect(await blobs.stat('unknown')).toBeUndefined()
    })

    it('deletes, also unknown keys', async () => {
      await blobs.put('doomed', Buffer.from('x'))
      await blobs.delete('doomed')
      await blobs.delete('doomed')
      expect(await readBlob(blobs, 'doomed')).toBeUndefined()
    })

    it('keeps nothing of a put that failed', async () => {
      const broken = new Readable({
        read() {
          this.destroy(new Error('client gone'))
        },
      })
      await expect(blobs.put('broken', broken)).rejects.toThrow('client gone')
      expect(await readBlob(blobs, 'broken')).toBeUndefined()
    })

    it('lists the blobs below a prefix, and deletes those that were not put again since', async () => {
      await blobs.put('listed/a', Buffer.from('a'))
      await blobs.put('listed/b/c', Buffer.from('c'))
      const listed = await Array.fromAsync(blobs.list('listed/'))
      expect(listed.map(({ key }) => key).sort()).toEqual(['listed/a', 'listed/b/c'])
      expect(await Array.fromAsync(blobs.list('nothing/'))).toEqual([])
      const changed = listed.find(({ key }) => key === 'listed/a')?.modifiedAt ?? 0
      expect(await blobs.deleteUnchanged('listed/a', changed - 1)).toBe(false)
      expect(await blobs.deleteUnchanged('listed/a', changed)).toBe(true)
      expect(await blobs.deleteUnchanged('listed/a', changed)).toBe(false)
      expect(await readBlob(blobs, 'listed/a')).toBeUndefined()
      expect(String(await readBlob(blobs, 'listed/b/c'))).toBe('c')
    })

    it.each(['../outside', '/etc/passwd', 'a/../../b', '', 'a//b', '.hidden'])(
      'refuses the key %j',
      async (key) => {
        await expect(readBlob(blobs, key)).rejects.toThrow('Bad blob key')
      },
    )
  })
}
