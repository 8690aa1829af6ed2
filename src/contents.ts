import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { tooLarge } from './errors.ts'
import { newId } from './ids.ts'
import type { Blobs } from './stores/blobs/port.ts'
import type { ControlDb, ControlTx } from './stores/control-db/tables.ts'

/** What is known of some bytes. */
export interface Content {
  /** SHA-256, hexadecimal: the name of the bytes. */
  digest: string
  /** MD5, base64. Wire: W&B clients name the files of artifacts by it. */
  md5: string
  size: number
}

export type Contents = ReturnType<typeof createContents>

/**
 * The bytes of checkpoints, artifacts and uploads, kept once however many need them. Whoever needs some is an owner,
 * such as `checkpoint:ID`; bytes go when their last owner releases them.
 */
export function createContents({ control, blobs }: { control: ControlDb; blobs: Blobs }) {
  // Bytes must not be found again in the moment in which their last owner's release deletes them.
  const exclusively = createQueue()

  async function blobKeyOf(digest: string, tx: ControlTx = control): Promise<string | undefined> {
    const row = await tx
      .selectFrom('contents')
      .select('blob_key')
      .where('digest', '=', digest)
      .executeTakeFirst()
    return row?.blob_key
  }

  /** Names bytes that lie under a key of their own; the key goes when the same bytes were here before. */
  async function record(owner: string, content: Content, blobKey: string): Promise<void> {
    const known = await blobKeyOf(content.digest)
    await control.transaction().execute(async (tx) => {
      if (known === undefined) {
        await tx
          .insertInto('contents')
          .values({ ...content, blob_key: blobKey })
          .execute()
      }
      await addOwner(tx, owner, [content.digest])
    })
    if (known !== undefined) await blobs.delete(blobKey)
  }

  /** Keeps the bytes of a stream. @throws 413 beyond `bytesMax`; of those bytes nothing stays. */
  async function add(
    owner: string,
    bytes: AsyncIterable<Uint8Array>,
    { bytesMax }: { bytesMax: number },
  ): Promise<Content> {
    const meter = createMeter(bytesMax)
    const blobKey = `contents/${newId()}`
    await blobs.put(blobKey, Readable.from(meter.pass(bytes)))
    const content = meter.content()
    await exclusively(() => record(owner, content, blobKey))
    return content
  }

  return {
    add,

    /** Keeps a file of this machine, which stays as it is. */
    addFile: (owner: string, path: string): Promise<Content> =>
      add(owner, createReadStream(path), { bytesMax: Number.POSITIVE_INFINITY }),

    /** Gives bytes that somebody owns one more owner. */
    share: (tx: ControlTx, owner: string, digests: readonly string[]): Promise<void> =>
      addOwner(tx, owner, digests),

    /** Takes everything from owners; bytes that nobody else owns are deleted. */
    release: (owners: readonly string[]): Promise<void> =>
      exclusively(async () => {
        for (const owner of owners) {
          for (const blobKey of await removeOwner(control, owner)) await blobs.delete(blobKey)
        }
      }),

    /** What an owner has. */
    ownedBy: (owner: string): Promise<Content[]> =>
      control
        .selectFrom('contents')
        .innerJoin('content_owners', 'content_owners.digest', 'contents.digest')
        .select(['contents.digest', 'contents.md5', 'contents.size'])
        .where('content_owners.owner', '=', owner)
        .execute(),

    /** A path of this machine at which the bytes can be read for as long as somebody owns them. */
    async localPath(digest: string, tx?: ControlTx): Promise<string | undefined> {
      const blobKey = await blobKeyOf(digest, tx)
      return blobKey === undefined ? undefined : blobs.localPath(blobKey)
    },
  }
}

async function addOwner(tx: ControlTx, owner: string, digests: readonly string[]): Promise<void> {
  if (digests.length === 0) return
  await tx
    .insertInto('content_owners')
    .values(digests.map((digest) => ({ owner, digest })))
    .onConflict((clash) => clash.doNothing())
    .execute()
}

/** Forgets an owner and what only it owned; returns the blob keys of that. */
function removeOwner(control: ControlDb, owner: string): Promise<string[]> {
  return control.transaction().execute(async (tx) => {
    const released = await tx
      .deleteFrom('content_owners')
      .where('owner', '=', owner)
      .returning('digest')
      .execute()
    if (released.length === 0) return []
    const orphans = await tx
      .deleteFrom('contents')
      .where(
        'digest',
        'in',
        released.map(({ digest }) => digest),
      )
      .where('digest', 'not in', (eb) => eb.selectFrom('content_owners').select('digest'))
      .returning('blob_key')
      .execute()
    return orphans.map(({ blob_key }) => blob_key)
  })
}

/** Measures bytes on their way. */
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

/** Runs one piece of work after the other. */
function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work, work)
    last = next.catch(() => {})
    return next
  }
}
