import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFileBlobs } from '../blobs/files.ts'
import { hasNoBlobs, moveBlobs } from './blobs.ts'

/** More than are copied at once. */
const COUNT = 40

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-move-blobs-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const options = { onProgress: () => undefined, signal: new AbortController().signal }

it('counts all blobs and all of their bytes, of those that were there already too', async () => {
  await using from = await openFileBlobs(join(root, 'from'))
  await using to = await openFileBlobs(join(root, 'to'))
  for (let at = 1; at <= COUNT; at++) await from.put(`files/${at}`, Buffer.alloc(at))
  const all = { count: COUNT, bytes: (COUNT * (COUNT + 1)) / 2 }
  expect(await moveBlobs(from, to, options)).toEqual(all)
  expect(await moveBlobs(from, to, options)).toEqual(all)
})

it('neither moves what health checks write nor takes it for data', async () => {
  await using from = await openFileBlobs(join(root, 'probed'))
  await using to = await openFileBlobs(join(root, 'probed-target'))
  await from.put('health/probe', Buffer.from('written'))
  expect(await hasNoBlobs(from)).toBe(true)
  await from.put('files/a', Buffer.from('x'))
  expect(await hasNoBlobs(from)).toBe(false)
  expect(await moveBlobs(from, to, options)).toEqual({ count: 1, bytes: 1 })
  expect(await to.stat('health/probe')).toBeUndefined()
})
