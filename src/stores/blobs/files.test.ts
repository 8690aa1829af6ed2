import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { blobsContract } from './blobs.contract.ts'
import { openFileBlobs } from './files.ts'

const newFolder = () => mkdtemp(join(tmpdir(), 'heddle-blobs-'))

blobsContract(async () => openFileBlobs(await newFolder()))

it('makes a file of a blob without a copy, which outlives the blob', async () => {
  const folder = await newFolder()
  const blobs = await openFileBlobs(folder)
  await blobs.put('a/b', Buffer.from('bytes'))
  const path = join(folder, 'linked')
  expect(await blobs.linkTo('a/b', path)).toBe(true)
  expect((await stat(path)).nlink).toBe(2)
  await blobs.delete('a/b')
  expect(await readFile(path, 'utf8')).toBe('bytes')
  expect(await blobs.linkTo('a/b', join(folder, 'other'))).toBe(false)
})

describe('keepInto', () => {
  const signal = new AbortController().signal

  it('links all blobs of a moment, those that were deleted since among them', async () => {
    const folder = await newFolder()
    const blobs = await openFileBlobs(folder)
    for (const key of ['a/stays', 'a/goes', 'b/swept']) await blobs.put(key, Buffer.from(key))
    const swept = await blobs.stat('b/swept')
    const kept = join(folder, 'kept')
    const linked: number[] = []
    {
      using keeping = blobs.keepInto(kept)
      await blobs.delete('a/goes')
      await blobs.deleteUnchanged('b/swept', swept?.modifiedAt ?? 0)
      await keeping.linkAll((blobs) => linked.push(blobs), signal)
    }
    expect(linked).toEqual([1])
    for (const key of ['a/stays', 'a/goes', 'b/swept'])
      expect(await readFile(join(kept, key), 'utf8')).toBe(key)
    expect(await blobs.stat('a/goes')).toBeUndefined()
    await blobs.delete('a/stays')
    await blobs.put('a/later', Buffer.from('later'))
    await blobs.delete('a/later')
    expect(await readdir(join(kept, 'a'))).toEqual(['goes', 'stays'])
  })

  it('fails alone, not the deletion, where a blob cannot be linked', async () => {
    const folder = await newFolder()
    const blobs = await openFileBlobs(folder)
    for (const key of ['one', 'other']) await blobs.put(key, Buffer.from(key))
    const noFolder = join(folder, 'a-file')
    await writeFile(noFolder, '')
    using keeping = blobs.keepInto(noFolder)
    await blobs.delete('one')
    await expect(keeping.linkAll(() => undefined, signal)).rejects.toThrow('a-file')
    expect(await blobs.stat('one')).toBeUndefined()
  })

  it('keeps one folder at a time', async () => {
    const blobs = await openFileBlobs(await newFolder())
    using _kept = blobs.keepInto('one')
    expect(() => blobs.keepInto('another')).toThrow('kept in one already')
  })
})
