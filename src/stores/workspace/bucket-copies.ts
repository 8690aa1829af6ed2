import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { isMissing } from '../blobs/s3-errors.ts'

/**
 * S3 copies at most 5 GiB by one request, and nothing is heard of it until it is done: so many bytes are copied well
 * within the time of silence that ends a connection. 10,000 parts of it are 2.5 TiB.
 */
const PART_BYTES = 256 * 1024 ** 2

/** Parts of one object that are copied at once. */
const PARTS_AT_ONCE = 4

export interface Copy {
  from: string
  to: string
}

/**
 * Copies an object inside a bucket, without its bytes passing through here; resolves with its size, undefined where it
 * is missing.
 */
export async function copyObject(
  s3: S3Client,
  bucket: string,
  { from, to }: Copy,
  partBytes = PART_BYTES,
): Promise<number | undefined> {
  try {
    const { ContentLength: bytes = 0 } = await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: from }))
    const source = { Bucket: bucket, Key: to, CopySource: `${bucket}/${from}` }
    if (bytes <= partBytes) await s3.send(new CopyObjectCommand(source))
    else await copyParts(s3, source, bytes, partBytes)
    return bytes
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function copyParts(
  s3: S3Client,
  source: { Bucket: string; Key: string; CopySource: string },
  bytes: number,
  partBytes: number,
): Promise<void> {
  const { CopySource, ...target } = source
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(target))
  const upload = { ...target, UploadId }
  try {
    const numbers = Array.from({ length: Math.ceil(bytes / partBytes) }, (_, index) => index + 1)
    const copyPart = async (
      PartNumber: number,
    ): Promise<{ PartNumber: number; ETag: string | undefined }> => {
      const start = (PartNumber - 1) * partBytes
      const CopySourceRange = `bytes=${start}-${Math.min(start + partBytes, bytes) - 1}`
      const part = { ...upload, CopySource, CopySourceRange, PartNumber }
      const { CopyPartResult } = await s3.send(new UploadPartCopyCommand(part))
      return { PartNumber, ETag: CopyPartResult?.ETag }
    }
    const Parts = await pMap(numbers, copyPart, { concurrency: PARTS_AT_ONCE })
    await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }))
  } catch (error) {
    // What is left behind where this fails too is removed with other uploads that were interrupted.
    await s3.send(new AbortMultipartUploadCommand(upload)).catch(() => undefined)
    throw error
  }
}
