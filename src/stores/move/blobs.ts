import { createHash, type Hash } from 'node:crypto'
import { Readable } from 'node:stream'
import pMap from 'p-map'
import { type Blobs, type OpenBlob, PROBE_PREFIX } from '../blobs/port.ts'
import { WORKSPACE_PREFIX } from '../workspace/bucket-address.ts'
import { type MoveOptions, MoveRefused } from './move-options.ts'

/** Blobs that are copied at once: while one waits for the network, others are read. */
const BLOBS_AT_ONCE = 8

/** Below them are blobs that are no data of users. */
const NOT_MOVED = [WORKSPACE_PREFIX, PROBE_PREFIX]

/** What was moved. */
export interface MovedBlobs {
  count: number
  bytes: number
}

/**
 * Makes the blobs of a store those of another, which do not change meanwhile. Each is read back and compared by its
 * SHA-256; one that is there already is only compared. Others that are there are deleted: they were deleted after an
 * earlier move was interrupted.
 * @throws MoveRefused with the key of a blob that differs after it was copied
 */
export async function moveBlobs(
  from: Blobs,
  to: Blobs,
  { onProgress, signal }: MoveOptions,
): Promise<MovedBlobs> {
  const moved = { count: 0, bytes: 0 }
  const options = { concurrency: BLOBS_AT_ONCE, signal }
  async function copy({ key }: { key: string }): Promise<void> {
    const bytes = await moveBlob(from, to, key)
    // Read after the wait: others of these have added to it meanwhile.
    moved.bytes += bytes
    moved.count++
    onProgress({ store: 'blobs', what: key.split('/', 1)[0] ?? '', done: moved.count })
  }
  async function removeOther({ key }: { key: string }): Promise<void> {
    if ((await from.stat(key)) === undefined) await to.delete(key)
  }
  await pMap(blobsOf(from), copy, options)
  await pMap(blobsOf(to), removeOther, options)
  return moved
}

/** Whether a store has no blobs yet. */
export async function hasNoBlobs(blobs: Pick<Blobs, 'list'>): Promise<boolean> {
  for await (const _ of blobsOf(blobs)) return false
  return true
}

/** All but a workspace in the same bucket, which is of engines and of open jobs, and what health checks write. */
async function* blobsOf(blobs: Pick<Blobs, 'list'>): AsyncGenerator<{ key: string }> {
  for await (const blob of blobs.list(''))
    if (!NOT_MOVED.some((prefix) => blob.key.startsWith(prefix))) yield blob
}

/** Resolves with its bytes. */
async function moveBlob(from: Blobs, to: Blobs, key: string): Promise<number> {
  const [wanted, found] = await Promise.all([from.stat(key), to.stat(key)])
  if (found !== undefined) {
    if (found.size === wanted?.size && (await hashOf(from, key)) === (await hashOf(to, key)))
      return found.size
    // A key is written once, so what is there has to go first.
    await to.delete(key)
  }
  const { size, bytes } = await opened(from, key)
  const hash = createHash('sha256')
  await to.put(key, Readable.from(hashing(bytes, hash), { objectMode: false }))
  if ((await hashOf(to, key)) !== hash.digest('hex'))
    throw new MoveRefused(`The blob ${key} differs after it was copied`)
  return size
}

async function opened(blobs: Blobs, key: string): Promise<OpenBlob> {
  const found = await blobs.open(key)
  if (found === undefined) throw new Error(`The blob ${key} is listed, and cannot be read`)
  return found
}

/** Passes bytes on. */
async function* hashing(bytes: Readable, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    hash.update(chunk)
    yield chunk
  }
}

async function hashOf(blobs: Blobs, key: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const _ of hashing((await opened(blobs, key)).bytes, hash));
  return hash.digest('hex')
}
