import { S3ServiceException } from '@aws-sdk/client-s3'
import { ClientError, messageOf, StoreFailed } from '../../errors.ts'

/** Of a store that has no such blob. */
const NOT_FOUND = 404

/** Of a condition of a request. */
const PRECONDITION_FAILED = 412

/** Of a range that begins after the last byte. */
const RANGE_NOT_SATISFIABLE = 416

/** Codes of Node's errors of connections. */
const OF_NETWORK = /^(E[A-Z]+|UND_ERR_\w+|(CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)_\w+)$/

/** Names of the SDK's own errors: of a time limit, and of credentials that were not found. */
const OF_SDK = ['TimeoutError', 'RequestTimeout', 'CredentialsProviderError', 'ChecksumMismatch']

/** Whether there is no such blob; where there is no bucket any more, nothing is known of blobs. */
export function isMissing(error: unknown): boolean {
  return statusOf(error) === NOT_FOUND && nameOf(error) !== 'NoSuchBucket'
}

/** Whether an object that was to be made is there. */
export function isTaken(error: unknown): boolean {
  return statusOf(error) === PRECONDITION_FAILED
}

export function isBeyondEnd(error: unknown): boolean {
  return statusOf(error) === RANGE_NOT_SATISFIABLE
}

/** 503 for an error of the store; any other error, such as one of the bytes that were to be put, as it is. */
export function s3Error(error: unknown): unknown {
  if (error instanceof ClientError) return error
  if (error instanceof S3ServiceException)
    return new StoreFailed(`The file store refused the request (${error.name})`, error)
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  const isOfNetwork = typeof code === 'string' && OF_NETWORK.test(code)
  const isOfSdk = OF_SDK.includes(nameOf(error) ?? '')
  return isOfNetwork || isOfSdk ? new StoreFailed('The file store does not answer', error) : error
}

/** Why a bucket cannot be used, and what to do. */
export function s3Problem(error: unknown, bucket: string): Error {
  const status = statusOf(error)
  if (status === NOT_FOUND) return new Error(`There is no bucket ${bucket}: make it`, { cause: error })
  if (status === 301)
    return new Error(`The bucket ${bucket} is in another region: set AWS_REGION`, { cause: error })
  if (status === 401 || status === 403)
    return new Error(
      `The credentials may not list, read, write and delete in the bucket ${bucket}: see AWS_ACCESS_KEY_ID`,
      { cause: error },
    )
  return new Error(`The bucket ${bucket} cannot be used: ${messageOf(error)}`, { cause: error })
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error ? error.name : undefined
}

function statusOf(error: unknown): number | undefined {
  return error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined
}
