import { S3Client } from '@aws-sdk/client-s3'
import type { S3Options } from './s3-address.ts'
import { REGION_OF_ANY } from './s3-region.ts'

const CONNECT_MS_MAX = 5_000

/** Without a byte in either direction: a store that makes one of 10,000 parts sends nothing meanwhile. */
const SILENCE_MS_MAX = 60_000

/** Requests that fail for a reason of the store or of the network are repeated, with growing delays. */
const ATTEMPTS_MAX = 4

/** A download holds a connection for as long as its client takes. */
const CONNECTIONS_MAX = 512

/** Credentials are those of the environment, of files or of the machine, as all programs of Amazon find them. */
export function createS3Client(
  { region }: Pick<S3Options, 'region'>,
  endpoint: string | undefined,
): S3Client {
  const agent = { maxSockets: CONNECTIONS_MAX, keepAlive: true }
  return new S3Client({
    // Stores elsewhere have no host name for each bucket.
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...((region ?? endpoint) !== undefined && { region: region ?? REGION_OF_ANY }),
    maxAttempts: ATTEMPTS_MAX,
    requestHandler: {
      connectionTimeout: CONNECT_MS_MAX,
      socketTimeout: SILENCE_MS_MAX,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
}
