import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { BlobOwner } from '../blob-sweep.ts'
import { conflict, tooLarge } from '../errors.ts'
import { firstIdAt, newId } from '../ids.ts'
import { slicesOf } from '../slices.ts'
import { type Blobs, type ByteRange, collected, type OpenBlob } from '../stores/blobs/port.ts'
import { CommitInDoubt, type ControlDb, type ControlTx } from '../stores/control-db/port.ts'
import type { Content } from './content.ts'
import * as queries from './queries.ts'

/** Owners that are removed in one transaction; a file of a run has one of its own, a version one of all its files. */
const OWNERS_AT_ONCE = 100

/**
 * The bytes of checkpoints, artifacts and uploads, stored once however many things use them. Each use has an owner,
 * such as `checkpoint:ID`; bytes are deleted when their last owner releases them.
 */
export interface Contents {
  blobOwner: BlobOwner
  /** Keeps the bytes of a stream. @throws 413 beyond `bytesMax`; nothing of them is kept. */
  add(owner: string, bytes: AsyncIterable<Uint8Array>, options: { bytesMax: number }): Promise<Content>
  /** Adds an owner to bytes that have one. @throws 409 when the last one has just released them. */
  share(tx: ControlTx, owner: string, digests: readonly string[]): Promise<void>
  /** Removes owners; bytes without another owner are deleted. */
  release(owners: readonly string[]): Promise<void>
  /**
   * The same for what a crash has left: owners whose names are the prefix and an id from before a time, in milliseconds
   * since 1970, except those of some ids.
   */
  releaseLeftovers(prefix: string, before: number, except?: queries.Ids): Promise<void>
  /** What an owner has. */
  ownedBy(owner: string): Promise<Content[]>
  /** The key of the blob with the bytes; undefined for bytes without an owner. */
  blobKeyOf(digest: string): Promise<string | undefined>
  /** The bytes, or those of a range that there are; undefined for bytes without an owner. */
  open(digest: string, range?: ByteRange, tx?: ControlTx): Promise<OpenBlob | undefined>
  /** An address from which clients get the bytes without this server; undefined where there is none, or no owner. */
  directUrl(digest: string): Promise<string | undefined>
  /** Collects the bytes of a small content, or of a small range of one; undefined where `open` says so. */
  read(digest: string, range?: ByteRange, tx?: ControlTx): Promise<Buffer | undefined>
}

export function createContents({ control, blobs }: { control: ControlDb; blobs: Blobs }): Contents {
  /** Records bytes that were stored under a new key; the blob is deleted when the same bytes were stored before. */
  async function record(owner: string, content: Content, blobKey: string): Promise<void> {
    const isNew = await control.transaction().execute(async (tx) => {
      const inserted = await queries.insertContent(tx, { ...content, blob_key: blobKey })
      await queries.addOwner(tx, owner, [content.digest])
      return inserted
    })
    if (!isNew) await blobs.delete(blobKey)
  }

  async function open(
    digest: string,
    range?: ByteRange,
    tx: ControlTx = control,
  ): Promise<OpenBlob | undefined> {
    const blobKey = await queries.blobKeyOf(tx, digest)
    return blobKey === undefined ? undefined : blobs.open(blobKey, range)
  }

  /** Bytes that come back meanwhile are stored under another key. */
  async function release(owners: readonly string[]): Promise<void> {
    for (const some of slicesOf(owners, OWNERS_AT_ONCE))
      for (const blobKey of await queries.removeOwners(control, some)) await blobs.delete(blobKey)
  }

  return {
    blobOwner: {
      prefix: PREFIX,
      ownedOf: async (keys) => new Set(await queries.knownBlobKeys(control, keys)),
    },

    async add(owner, bytes, { bytesMax }) {
      const meter = createMeter(bytesMax)
      const blobKey = PREFIX + newId()
      await blobs.put(blobKey, Readable.from(meter.pass(bytes)))
      const content = meter.content()
      try {
        await record(owner, content, blobKey)
      } catch (error) {
        // A row that may be stored names the blob; without the row, the sweep of blobs deletes it.
        if (!(error instanceof CommitInDoubt)) await blobs.delete(blobKey)
        throw error
      }
      return content
    },

    async share(tx, owner, digests) {
      const wanted = [...new Set(digests)]
      if ((await queries.countKnown(tx, wanted)) < wanted.length)
        throw conflict('The files have just been deleted')
      await queries.addOwner(tx, owner, wanted)
    },

    release,
    releaseLeftovers: async (prefix, before, except) =>
      release(await queries.ownersBelow(control, { prefix, id: firstIdAt(before), except })),
    ownedBy: (owner) => queries.contentsOf(control, owner),
    blobKeyOf: (digest) => queries.blobKeyOf(control, digest),
    open,

    async directUrl(digest) {
      const blobKey = await queries.blobKeyOf(control, digest)
      return blobKey === undefined ? undefined : blobs.directUrl?.(blobKey)
    },

    async read(digest, range, tx) {
      const found = await open(digest, range, tx)
      return found && collected(found)
    },
  }
}

/** Below which prefix the bytes are. */
const PREFIX = 'contents/'

/** Measures and hashes bytes as they pass. */
function createMeter(bytesMax: number) {
  const sha256 = createHash('sha256')
  const md5 = createHash('md5')
  let size = 0
  return {
    async *pass(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of bytes) {
        size += chunk.byteLength
        if (size > bytesMax) throw tooLarge(`The limit is ${bytesMax} bytes`)
        sha256.update(chunk)
        md5.update(chunk)
        yield chunk
      }
    },
    content: (): Content => ({ digest: sha256.digest('hex'), md5: md5.digest('base64'), size }),
  }
}
