import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3'
import { messageOf } from '../../errors.ts'
import type { Log } from '../../log.ts'

/**
 * The parts of an upload that a server began and did not end take space that no list of blobs shows. An upload may take
 * hours.
 */
const STALE_MS = 48 * 3_600_000

const SWEEP_EVERY_MS = 6 * 3_600_000

/** Removes the parts of uploads that were interrupted, now and from time to time. */
export function abortStaleUploads(deps: {
  s3: S3Client
  bucket: string
  prefix: string
  log: Pick<Log, 'warn'>
  /** For tests. */
  staleMs?: number
}): {
  /** Resolves with the number of uploads that a sweep removed, once the one in progress has ended. */
  swept(): Promise<number>
  stop(): Promise<void>
} {
  const { s3, bucket: Bucket, prefix: Prefix, log, staleMs = STALE_MS } = deps
  let isStopped = false

  async function* uploads(): AsyncGenerator<MultipartUpload> {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {}
    for (;;) {
      const page = await s3.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...from }))
      yield* page.Uploads ?? []
      if (page.IsTruncated !== true) return
      from = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    }
  }

  async function sweep(): Promise<number> {
    let count = 0
    try {
      for await (const { Key, UploadId, Initiated } of uploads()) {
        if (isStopped) return count
        if (Initiated === undefined || Initiated.getTime() > Date.now() - staleMs) continue
        await s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
        count++
      }
      if (count > 0) log.warn({ count }, 'uploads to the file store that were interrupted were removed')
    } catch (error) {
      if (!isStopped) log.warn({ reason: messageOf(error) }, 'interrupted uploads could not be looked for')
    }
    return count
  }

  let sweeping = sweep()
  const timer = setInterval(() => {
    sweeping = sweep()
  }, SWEEP_EVERY_MS).unref()

  return {
    swept: () => sweeping,
    async stop() {
      isStopped = true
      clearInterval(timer)
      await sweeping
    },
  }
}
