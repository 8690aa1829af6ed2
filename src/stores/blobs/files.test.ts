import { mkdtemp, readFile, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
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
