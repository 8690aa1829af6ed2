import type { Readable } from 'node:stream'

/**
 * Bytes under a key such as `files/ab/abcdef…`. Keys are content-addressed by their callers, so a key's bytes never
 * change and putting them twice is harmless. Adapters: files.ts.
 */
export interface Blobs extends AsyncDisposable {
  /** Stores bytes; on disk once this resolves. */
  put(key: string, bytes: Uint8Array | Readable): Promise<void>
  /** The bytes, or undefined for an unknown key. */
  get(key: string): Promise<Buffer | undefined>
  /** A path of this machine at which the blob can be read until it is deleted; undefined for an unknown key. */
  localPath(key: string): Promise<string | undefined>
  /** Deletes; unknown keys are no error. */
  delete(key: string): Promise<void>
  /** Keys that begin with a prefix of whole parts, such as `files/`, and when each was put, in milliseconds since 1970. */
  list(prefix: string): AsyncIterable<{ key: string; modifiedAt: number }>
  /** Deletes a blob unless it was put again since it was listed; whether it did. */
  deleteUnchanged(key: string, modifiedAt: number): Promise<boolean>
}
