import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { type Blobs, type ByteRange, blobKey, isBlobKey, type OpenBlob } from './port.ts'
import type { S3Options } from './s3-address.ts'
import { isBeyondEnd, isMissing } from './s3-errors.ts'

/** S3 takes at most 10,000 parts, so a blob may have 80 GB: the largest file of an artifact has 64. */
const PART_BYTES = 8 * 1024 ** 2

/** Parts of one blob that are sent at once; as many and one more are in memory. */
const PARTS_AT_ONCE = 2

/** Blobs as objects, with the errors that S3 answers with. */
export type S3Objects = Pick<Blobs, 'put' | 'open' | 'stat' | 'delete' | 'list' | 'deleteUnchanged'>

/** The object of a blob. */
export function objectOf(
  { bucket, prefix }: Pick<S3Options, 'bucket' | 'prefix'>,
  key: string,
): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: prefix + blobKey(key) }
}

export function createS3Objects(s3: S3Client, place: Pick<S3Options, 'bucket' | 'prefix'>): S3Objects {
  const head = (key: string) => unlessMissing(s3.send(new HeadObjectCommand(objectOf(place, key))))

  async function stat(key: string): Promise<{ size: number; modifiedAt: number } | undefined> {
    const found = await head(key)
    return found && { size: found.ContentLength ?? 0, modifiedAt: secondOf(found.LastModified) ?? 0 }
  }

  async function open(key: string, range?: ByteRange): Promise<OpenBlob | undefined> {
    const bytes = range && `bytes=${range.start}-${range.end ?? ''}`
    const get = new GetObjectCommand({ ...objectOf(place, key), Range: bytes })
    try {
      const found = await unlessMissing(s3.send(get))
      if (found === undefined) return undefined
      if (!(found.Body instanceof Readable)) throw new TypeError('a blob has bytes')
      const total = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength
      return { size: Number(total), bytes: found.Body }
    } catch (error) {
      if (!isBeyondEnd(error)) throw error
      const known = await stat(key)
      return known && { size: known.size, bytes: Readable.from([]) }
    }
  }

  async function put(key: string, bytes: Uint8Array | Readable): Promise<void> {
    const object = objectOf(place, key)
    if (!(bytes instanceof Readable)) {
      await s3.send(new PutObjectCommand({ ...object, Body: bytes }))
      return
    }
    const upload = new Upload({
      client: s3,
      params: { ...object, Body: bytes },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    })
    await upload.done()
  }

  async function* list(below: string): AsyncGenerator<{ key: string; modifiedAt: number }> {
    const pages = paginateListObjectsV2(
      { client: s3 },
      {
        Bucket: place.bucket,
        Prefix: place.prefix + below,
      },
    )
    for await (const { Contents = [] } of pages)
      for (const { Key = '', LastModified } of Contents) {
        const key = Key.slice(place.prefix.length)
        const modifiedAt = secondOf(LastModified)
        if (isBlobKey(key) && modifiedAt !== undefined) yield { key, modifiedAt }
      }
  }

  async function remove(key: string, VersionId?: string): Promise<void> {
    await s3.send(new DeleteObjectCommand({ ...objectOf(place, key), VersionId }))
  }

  async function deleteUnchanged(key: string, modifiedAt: number): Promise<boolean> {
    const found = await head(key)
    if (found === undefined || secondOf(found.LastModified) !== modifiedAt) return false
    // In a bucket with versions, one that is put by another server meanwhile is another version, and stays.
    await remove(key, found.VersionId)
    return true
  }

  return { put, open, stat, list, deleteUnchanged, delete: (key) => remove(key) }
}

/** The second in which an object was put: lists of some stores have milliseconds, the header of an object never has. */
function secondOf(time: Date | undefined): number | undefined {
  return time && Math.floor(time.getTime() / 1000) * 1000
}

async function unlessMissing<Found>(work: Promise<Found>): Promise<Found | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
