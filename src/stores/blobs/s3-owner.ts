import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { S3Options } from './s3-address.ts'
import { isTaken } from './s3-errors.ts'

/** No key of a blob begins with a dot. */
const NAME = '.owner'

/**
 * Takes a prefix for the servers of one installation. Those of another would find blobs there that none of their rows
 * owns, and delete them.
 * @param owner what all servers of the installation have in common
 * @throws Error where it is another's
 */
export async function claimPrefix(
  s3: S3Client,
  { bucket, prefix }: Pick<S3Options, 'bucket' | 'prefix'>,
  owner: string,
): Promise<void> {
  const object = { Bucket: bucket, Key: prefix + NAME }
  try {
    await s3.send(new PutObjectCommand({ ...object, Body: owner, IfNoneMatch: '*' }))
  } catch (error) {
    if (!isTaken(error)) throw error
  }
  const { Body } = await s3.send(new GetObjectCommand(object))
  if ((await Body?.transformToString()) === owner) return
  throw new Error(
    `The files in s3://${bucket}/${prefix} belong to servers with another HEDDLE_SECRET_KEY, or secret.key: ` +
      `name another prefix, or set theirs. Where that key is lost, delete ${prefix}${NAME}`,
  )
}
