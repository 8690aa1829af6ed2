import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import type { BlobOwner } from './blob-sweep.ts'
import { conflict, tooLarge } from './errors.ts'
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
    try {
      await exclusively(() => record(owner, content, blobKey))
    } catch (error) {
      await blobs.delete(blobKey)
      throw error
    }
    return content
  }

  /** Those of the keys under which contents lie. */
  async function ownedOf(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await control
      .selectFrom('contents')
      .select('blob_key')
      .where('blob_key', 'in', keys)
      .execute()
    return new Set(rows.map(({ blob_key }) => blob_key))
  }

  return {
    add,
    blobOwner: { prefix: 'contents/', ownedOf } satisfies BlobOwner,

    /** Keeps a file of this machine, which stays as it is. */
    addFile: (owner: string, path: string): Promise<Content> =>
      add(owner, createReadStream(path), { bytesMax: Number.POSITIVE_INFINITY }),

    /** Gives bytes that somebody owns one more owner. @throws 409 when the last one has just released them. */
    async share(tx: ControlTx, owner: string, digests: readonly string[]): Promise<void> {
      const wanted = [...new Set(digests)]
      if ((await countKnown(tx, wanted)) < wanted.length) throw conflict('The files have just been deleted')
      await addOwner(tx, owner, wanted)
    },

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

/** Digests in one statement: databases bound the number of its parameters. */
const DIGESTS_PER_STATEMENT = 1_000

function* slicesOf(digests: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < digests.length; from += DIGESTS_PER_STATEMENT) {
    yield digests.slice(from, from + DIGESTS_PER_STATEMENT)
  }
}

async function countKnown(tx: ControlTx, digests: readonly string[]): Promise<number> {
  let count = 0
  for (const slice of slicesOf(digests)) {
    const rows = await tx.selectFrom('contents').select('digest').where('digest', 'in', slice).execute()
    count += rows.length
  }
  return count
}

async function addOwner(tx: ControlTx, owner: string, digests: readonly string[]): Promise<void> {
  for (const slice of slicesOf(digests)) {
    await tx
      .insertInto('content_owners')
      .values(slice.map((digest) => ({ owner, digest })))
      .onConflict((clash) => clash.doNothing())
      .execute()
  }
}

/** Forgets an owner and what only it owned; returns the blob keys of that. */
function removeOwner(control: ControlDb, owner: string): Promise<string[]> {
  return control.transaction().execute(async (tx) => {
    const released = await tx
      .deleteFrom('content_owners')
      .where('owner', '=', owner)
      .returning('digest')
      .execute()
    const blobKeys: string[] = []
    for (const slice of slicesOf(released.map(({ digest }) => digest))) {
      const orphans = await tx
        .deleteFrom('contents')
        .where('digest', 'in', slice)
        .where('digest', 'not in', (eb) => eb.selectFrom('content_owners').select('digest'))
        .returning('blob_key')
        .execute()
      blobKeys.push(...orphans.map(({ blob_key }) => blob_key))
    }
    return blobKeys
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
