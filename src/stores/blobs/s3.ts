import { GetObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { inOrderByKey } from '../../in-order.ts'
import type { Log } from '../../log.ts'
import { type Blobs, PROBE_PREFIX, readBlob } from './port.ts'
import type { S3Options } from './s3-address.ts'
import { createS3Client } from './s3-client.ts'
import { s3Error, s3Problem } from './s3-errors.ts'
import { createS3Objects, objectOf } from './s3-objects.ts'
import { checkOwner, claimPrefix } from './s3-owner.ts'
import { abortStaleUploads } from './s3-uploads.ts'

/** Seconds for which an address without this server is valid. */
const DIRECT_SECONDS = 3_600

/** What a start writes, reads, lists and deletes, to find out whether it may. */
const PROBE = `${PROBE_PREFIX}start`

/**
 * Blobs as objects of a bucket. What is acknowledged is on disk, and read by all who read after that: S3 is consistent.
 * Its times have whole seconds.
 * @param owner see {@link claimPrefix}
 * @throws as {@link checkS3} and {@link claimPrefix}
 */
export async function openS3Blobs(
  options: S3Options,
  { owner, log }: { owner: string; log: Pick<Log, 'warn'> },
): Promise<Blobs> {
  await checkS3(options)
  const { bucket, prefix, endpoint, clientEndpoint } = options
  await using opening = new AsyncDisposableStack()
  const s3 = opening.adopt(createS3Client(options, endpoint), (client) => client.destroy())
  await claimPrefix(s3, options, owner)
  const objects = createS3Objects(s3, options)
  const direct = clientEndpoint === undefined ? undefined : createS3Client(options, clientEndpoint)
  const stale = abortStaleUploads({ s3, bucket, prefix, log })
  /** Puts and deletions of a key in this process, which would otherwise miss each other. */
  const inTurn = inOrderByKey()
  const opened = opening.move()

  return {
    put: (key, bytes) => inTurn(key, () => objects.put(key, bytes)).catch(raise),
    open: (key, range) => objects.open(key, range).catch(raise),
    ...(direct !== undefined && {
      directUrl: (key: string) =>
        getSignedUrl(direct, new GetObjectCommand(objectOf(options, key)), { expiresIn: DIRECT_SECONDS }),
    }),
    stat: (key) => objects.stat(key).catch(raise),
    delete: (key) => inTurn(key, () => objects.delete(key)).catch(raise),
    async *list(below) {
      try {
        yield* objects.list(below)
      } catch (error) {
        raise(error)
      }
    },
    deleteUnchanged: (key, modifiedAt) =>
      inTurn(key, () => objects.deleteUnchanged(key, modifiedAt)).catch(raise),
    async [Symbol.asyncDispose]() {
      await stale.stop()
      direct?.destroy()
      await opened.disposeAsync()
    },
  }
}

/**
 * Looks whether everything may be done that is done later: it writes, lists, reads and deletes an object.
 * @throws Error that says why the bucket cannot be used, and what to do
 */
export async function checkS3(options: S3Options): Promise<void> {
  const s3 = createS3Client(options, options.endpoint)
  const objects = createS3Objects(s3, options)
  try {
    await objects.put(PROBE, Buffer.from('written'))
    for await (const _ of objects.list(PROBE)) break
    await readBlob(objects, PROBE)
    await objects.delete(PROBE)
  } catch (error) {
    throw s3Problem(error, options.bucket)
  } finally {
    s3.destroy()
  }
}

/**
 * Checks whether servers of an installation could take the prefix, and takes nothing.
 * @param owner undefined for an installation that has none yet
 * @throws Error where it is another's, as a start does
 */
export async function checkS3Owner(options: S3Options, owner: string | undefined): Promise<void> {
  const s3 = createS3Client(options, options.endpoint)
  try {
    await checkOwner(s3, options, owner)
  } finally {
    s3.destroy()
  }
}

function raise(error: unknown): never {
  throw s3Error(error)
}
