import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import type { S3Options } from './s3-address.ts'
import { isMissing, isTaken } from './s3-errors.ts'

/** No key of a blob begins with a dot. */
const NAME = '.owner'

type Place = Pick<S3Options, 'bucket' | 'prefix'>

/**
 * Takes a prefix for the servers of one installation. Those of another would find blobs there that none of their rows
 * owns, and delete them.
 * @param owner what all servers of the installation have in common
 * @throws Error where it is another's
 */
export async function claimPrefix(s3: S3Client, place: Place, owner: string): Promise<void> {
  try {
    await s3.send(new PutObjectCommand({ ...objectOf(place), Body: owner, IfNoneMatch: '*' }))
  } catch (error) {
    if (!isTaken(error)) throw error
  }
  if ((await ownerOf(s3, place)) !== owner) throw ofOthers(place)
}

/**
 * Checks whether servers of an installation could take a prefix, and takes nothing.
 * @param owner undefined for an installation that has none yet: all that is owned is another's
 * @throws as {@link claimPrefix}
 */
export async function checkOwner(s3: S3Client, place: Place, owner: string | undefined): Promise<void> {
  const found = await ownerOf(s3, place)
  if (found !== undefined && found !== owner) throw ofOthers(place)
}

/** Undefined where no server has taken the prefix yet. */
async function ownerOf(s3: S3Client, place: Place): Promise<string | undefined> {
  try {
    const { Body } = await s3.send(new GetObjectCommand(objectOf(place)))
    return await Body?.transformToString()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function objectOf({ bucket, prefix }: Place): { Bucket: string; Key: string } {
  return { Bucket: bucket, Key: prefix + NAME }
}

function ofOthers({ bucket, prefix }: Place): Error {
  return new Error(
    `The files in s3://${bucket}/${prefix} belong to servers with another HEDDLE_SECRET_KEY, or secret.key: ` +
      `name another prefix, or set theirs. Where that key is lost, delete ${prefix}${NAME}`,
  )
}
