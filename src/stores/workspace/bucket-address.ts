import type { S3Options } from '../blobs/s3-address.ts'

/** The root of the workspace, below the prefix of the blobs: no kind of blob has it. */
export const WORKSPACE_PREFIX = 'workspace/'

/** The bucket through which engines exchange folders with servers. */
export interface WorkspaceBucket {
  /** The root of the workspace, as engines are told it: `s3://bucket/prefix/workspace`. */
  url: string
  /** How engines of this machine reach the bucket. */
  environment: NodeJS.ProcessEnv
}

type Place = Pick<S3Options, 'bucket' | 'prefix'>

/** Where the workspace of servers with these blobs is. */
export function workspaceOf({ bucket, prefix }: Place): Place {
  return { bucket, prefix: prefix + WORKSPACE_PREFIX }
}

/** The root of that workspace as engines are told it, without a `/` at its end. */
export function workspaceUrl(blobs: Place): string {
  const { bucket, prefix } = workspaceOf(blobs)
  return `s3://${bucket}/${prefix.slice(0, -1)}`
}
