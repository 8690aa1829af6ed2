/** Blobs in a bucket. */
export interface S3Options {
  bucket: string
  /** What all keys begin with: '' or parts that each end in `/`. */
  prefix: string
  /** The store; Amazon's where absent. */
  endpoint: string | undefined
  /**
   * Where clients reach the store, which then get large files from there; they get all from this server where absent.
   */
  clientEndpoint: string | undefined
  /** What the SDK finds by itself where absent. */
  region: string | undefined
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX = /^([A-Za-z0-9_-][A-Za-z0-9._-]*\/)*$/

/** Reads `s3://bucket/prefix`. @throws Error that says what is wrong */
export function readS3Address(text: string): Pick<S3Options, 'bucket' | 'prefix'> {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/?(.*)$/.exec(text) ?? []
  if (!BUCKET.test(bucket)) throw new Error('no address such as s3://bucket/prefix')
  const prefix = path === '' || path.endsWith('/') ? path : `${path}/`
  if (!PREFIX.test(prefix)) throw new Error('a prefix has letters, digits, _, -, . and /')
  return { bucket, prefix }
}
