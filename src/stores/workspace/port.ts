/** A file to lay out: its name in the folder, and the key of the blob with its bytes. */
export interface LaidOutFile {
  name: string
  blobKey: string
}

/** A file that an engine has written. */
export interface WrittenFile {
  name: string
  /** Reads it. */
  bytes(): AsyncIterable<Uint8Array>
}

/**
 * What engines read and write: folders of files, named as `checkpoints/01a1…` relative to a root. Messages to engines
 * carry these names, and each machine has its own path of the root. The state of open jobs is the only data that a
 * workspace holds the only copy of. Adapters: folders.ts, bucket.ts.
 */
export interface Workspace {
  /** Whether other servers of the same stores have this root too, and so may be using any folder. */
  readonly isShared: boolean
  /**
   * Makes a folder with some blobs as its files, in place of any of that name; it is complete once it exists. Its files
   * must not be written to.
   * @throws Error that names a file whose blob is missing
   */
  materialise(folder: string, files: readonly LaidOutFile[]): Promise<void>
  /** Prepares a folder name for an engine to write; the folder does not exist yet. */
  prepare(folder: string): Promise<void>
  /** The files of a folder that an engine has written, by name. @throws Error when there is none. */
  collect(folder: string): AsyncIterable<WrittenFile>
  /** Whether there is a folder that was laid out or written. */
  has(folder: string): Promise<boolean>
  /** What is directly in a folder; nothing for an unknown one. */
  list(folder: string): Promise<string[]>
  /** The folders directly in a folder that were made, or replaced, before a time, in milliseconds since 1970. */
  listOld(folder: string, before: number): Promise<string[]>
  /** Removes a folder with all that is in it; a missing one is no error. */
  remove(folder: string): Promise<void>
}
