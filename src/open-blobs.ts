import { join } from 'node:path'
import type { Log } from './log.ts'
import { type FileBlobs, openFileBlobs } from './stores/blobs/files.ts'
import type { Blobs } from './stores/blobs/port.ts'
import type { S3Options } from './stores/blobs/s3-address.ts'
import type { SecretKey } from './stores/secret-key.ts'

/** Where the blobs are. */
export interface BlobsPlace {
  /** In it, where there is no bucket. */
  dataFolder: string
  /** A bucket of S3. */
  s3?: S3Options | undefined
}

/** @param secretKey that of all servers which share a bucket */
export async function openBlobs(
  { dataFolder, s3 }: BlobsPlace,
  secretKey: SecretKey,
  log: Pick<Log, 'warn'>,
): Promise<FileBlobs | Blobs> {
  if (s3 === undefined) return openFileBlobs(dataFolder)
  // The SDK takes a fifth of a second to load, which a server without it need not wait for.
  const { openS3Blobs } = await import('./stores/blobs/s3.ts')
  return openS3Blobs(s3, { owner: ownerOfBlobs(secretKey), log })
}

/** What all servers that share a bucket have in common, as it is noted there. */
export function ownerOfBlobs(secretKey: SecretKey): string {
  return secretKey.hash('owner of blobs', '')
}

/** Where blobs are, for people. */
export function placeOfBlobs({ dataFolder, s3 }: BlobsPlace): string {
  return s3 === undefined ? join(dataFolder, 'blobs') : `s3://${s3.bucket}/${s3.prefix}`
}
