import type { Readable } from 'node:stream'

/** Bytes from `start` to `end`, both included, as HTTP counts them; to the last one without an `end`. */
export interface ByteRange {
  start: number
  end?: number
}

/** A blob that was found. */
export interface OpenBlob {
  /** Bytes of the whole blob. */
  size: number
  /** The requested bytes. The stream keeps its file open until it ends or is destroyed. */
  bytes: Readable
}

/** Below it are blobs that only show that a store works: they are of no user. */
export const PROBE_PREFIX = 'health/'

/** Keys are parts of letters, digits, `_`, `-`, `.`, so that none can leave the place of the blobs. */
const KEY_PATTERN = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

export function isBlobKey(key: string): boolean {
  return KEY_PATTERN.test(key)
}

/** The key itself. @throws Error for one that no blob may have */
export function blobKey(key: string): string {
  if (!isBlobKey(key)) throw new Error(`Bad blob key: ${key}`)
  return key
}

/**
 * Bytes under a key such as `files/ab/abcdef…`. Keys are content-addressed by their callers, so a key's bytes never
 * change and putting them twice is harmless. Adapters: files.ts, s3.ts.
 */
export interface Blobs extends AsyncDisposable {
  /** Stores bytes; on disk once this resolves. */
  put(key: string, bytes: Uint8Array | Readable): Promise<void>
  /** The bytes, or those of a range that the blob has; undefined for an unknown key. */
  open(key: string, range?: ByteRange): Promise<OpenBlob | undefined>
  /**
   * An address from which clients get a blob without this server, for an hour; absent where there is none. It is
   * answered with 404 for an unknown key.
   */
  directUrl?: (key: string) => Promise<string>
  /** Bytes of a blob, and when it was put, in milliseconds since 1970; undefined for an unknown key. */
  stat(key: string): Promise<{ size: number; modifiedAt: number } | undefined>
  /** Deletes; unknown keys are no error. */
  delete(key: string): Promise<void>
  /**
   * Keys that begin with a prefix of whole parts, such as `files/`, and when each was put, in milliseconds since 1970.
   */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: number }>
  /** Deletes a blob unless it was put again since it was listed; resolves with whether it was deleted. */
  deleteUnchanged(key: string, modifiedAt: number): Promise<boolean>
}

/** Collects the bytes of a small blob, or of a small range; undefined for an unknown key. */
export async function readBlob(
  blobs: Pick<Blobs, 'open'>,
  key: string,
  range?: ByteRange,
): Promise<Buffer | undefined> {
  const found = await blobs.open(key, range)
  return found && collected(found)
}

/** Collects the bytes of a blob that was opened. */
export async function collected({ bytes }: OpenBlob): Promise<Buffer> {
  return Buffer.concat(await bytes.toArray())
}
