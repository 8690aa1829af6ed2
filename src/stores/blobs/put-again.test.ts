import files, { mkdtemp, utimes } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { openFileBlobs } from './files.ts'
import { readBlob } from './port.ts'

const KEY = 'a/b'
const LONG_AGO_S = 1_000

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

it('keeps a blob that is put while it is deleted as unchanged, in its place from then on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-blobs-'))
  const path = join(folder, 'blobs', KEY)
  const blobs = await openFileBlobs(folder)
  await blobs.put(KEY, Buffer.from('before'))
  await utimes(path, LONG_AGO_S, LONG_AGO_S)

  const { link, mkdir } = files
  const [linking, mkdirs, renames] = [
    vi.spyOn(files, 'link'),
    vi.spyOn(files, 'mkdir'),
    vi.spyOn(files, 'rename'),
  ]
  syncBuiltinESMExports()

  // What is kept is linked after the deletion has found the blob unchanged.
  using _kept = blobs.keepInto(join(folder, 'kept'))
  const hasFound = Promise.withResolvers<void>()
  const mayGoOn = Promise.withResolvers<void>()
  linking.mockImplementationOnce(async (...args) => {
    hasFound.resolve()
    await mayGoOn.promise
    await link(...args)
  })
  const deleting = blobs.deleteUnchanged(KEY, LONG_AGO_S * 1_000)
  await hasFound.promise

  // The last step of a put before its bytes get their name.
  const isWritten = Promise.withResolvers<void>()
  mkdirs.mockImplementationOnce(async (...args) => {
    const made = await mkdir(...args)
    setImmediate(isWritten.resolve)
    return made
  })
  const putting = blobs.put(KEY, Buffer.from('again'))
  await isWritten.promise
  // Where it does not wait for the deletion, it ends before that goes on.
  if (renames.mock.calls.length > 0) await putting
  mayGoOn.resolve()
  await Promise.all([deleting, putting])

  expect(String(await readBlob(blobs, KEY))).toBe('again')
  expect(renames).not.toHaveBeenCalledWith(path, expect.anything())
})
