import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Blobs } from './port.ts'

/** What every adapter of the blob store must do. */
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
      expect(await blobs.get('a/bytes')).toEqual(Buffer.from([0, 255]))
      expect(String(await blobs.get('a/stream'))).toBe('from a stream')
      expect(await blobs.localPath('a/bytes')).toEqual(expect.any(String))
    })

    it('takes the same key twice and knows nothing of unknown keys', async () => {
      await blobs.put('twice', Buffer.from('same'))
      await blobs.put('twice', Buffer.from('same'))
      expect(String(await blobs.get('twice'))).toBe('same')
      expect(await blobs.get('unknown')).toBeUndefined()
      expect(await blobs.localPath('unknown')).toBeUndefined()
    })

    it('deletes, also what is not there', async () => {
      await blobs.put('doomed', Buffer.from('x'))
      await blobs.delete('doomed')
      await blobs.delete('doomed')
      expect(await blobs.get('doomed')).toBeUndefined()
    })

    it('keeps nothing of a put that failed', async () => {
      const broken = new Readable({
        read() {
          this.destroy(new Error('client gone'))
        },
      })
      await expect(blobs.put('broken', broken)).rejects.toThrow('client gone')
      expect(await blobs.get('broken')).toBeUndefined()
    })

    it('lists what is below a prefix, and deletes what was not put again since', async () => {
      await blobs.put('listed/a', Buffer.from('a'))
      await blobs.put('listed/b/c', Buffer.from('c'))
      const listed = await Array.fromAsync(blobs.list('listed/'))
      expect(listed.map(({ key }) => key).sort()).toEqual(['listed/a', 'listed/b/c'])
      expect(await Array.fromAsync(blobs.list('nothing/'))).toEqual([])
      const changed = listed.find(({ key }) => key === 'listed/a')?.modifiedAt ?? 0
      expect(await blobs.deleteUnchanged('listed/a', changed - 1)).toBe(false)
      expect(await blobs.deleteUnchanged('listed/a', changed)).toBe(true)
      expect(await blobs.deleteUnchanged('listed/a', changed)).toBe(false)
      expect(await blobs.get('listed/a')).toBeUndefined()
      expect(String(await blobs.get('listed/b/c'))).toBe('c')
    })

    it.each(['../outside', '/etc/passwd', 'a/../../b', '', 'a//b', '.hidden'])(
      'refuses the key %j',
      async (key) => {
        await expect(blobs.get(key)).rejects.toThrow('Bad blob key')
      },
    )
  })
}
