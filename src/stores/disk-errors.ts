import { statfs } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { type ClientError, StoreFailed } from '../errors.ts'

/** 503: the disk is full, and the write was rolled back. */
export function diskFull(cause: Error): ClientError {
  return disk(
    'The disk of the data folder is full, so nothing was stored: free some space and try again',
    cause,
  )
}

/** 503: the disk failed, and the write was rolled back. */
export function diskBroken(cause: Error): ClientError {
  return disk('The disk of the data folder fails, so nothing was stored', cause)
}

function disk(message: string, cause: Error): ClientError {
  return new StoreFailed(message, cause, 30)
}

const FULL_CODES = new Set(['ENOSPC', 'EDQUOT'])
const BROKEN_CODES = new Set(['EIO', 'EROFS', 'EFBIG'])

/** Whether a write failed because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof StoreFailed) || !(error.cause instanceof Error) || !('code' in error.cause))
    return false
  return typeof error.cause.code === 'string' && FULL_CODES.has(error.cause.code)
}

/** ClickHouse reserves a mebibyte for each part that it writes: with less than two, a start finds no room. */
const START_BYTES_MIN = 2 * 1024 ** 2

/** Whether a start may have failed since the disk of a file or folder has no room for it; not of a store elsewhere. */
export async function lacksRoom(path: string): Promise<boolean> {
  if (!isAbsolute(path)) return false
  const space = await statfs(dirname(path)).catch(() => undefined)
  return space !== undefined && space.bavail * space.bsize < START_BYTES_MIN
}

/** Whether an error says that there is no such file. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

/** 503 for an error of the disk that Node reports; any other error as it is. */
export function fileError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return error
  if (FULL_CODES.has(error.code)) return diskFull(error)
  return BROKEN_CODES.has(error.code) ? diskBroken(error) : error
}
