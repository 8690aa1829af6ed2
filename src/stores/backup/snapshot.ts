import { lstat, opendir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** The state of all embedded stores at one moment, as files that do not change. */
export interface Snapshot extends AsyncDisposable {
  /** The moment. ISO 8601. */
  takenAt: string
  /** Milliseconds in which writes waited. */
  heldMs: number
  /** Migrations of the control database. */
  migrations: readonly string[]
  /** Symbolic links: their names, and what they lead to. */
  links: readonly { name: string; target: string }[]
  files(): AsyncIterable<SnapshotFile>
}

/** A file of a snapshot. */
export interface SnapshotFile {
  /** Its path in a data folder, with `/`. */
  name: string
  /** Where its bytes are. */
  path: string
  size: number
}

/**
 * What of a data folder is in a backup. Not in it: the locks and the addresses of processes, the key that encrypts
 * secrets, logs, files to import, and the workspace, whose open jobs start again without it.
 */
export const BACKED_UP = {
  control: 'control.sqlite',
  blobs: 'blobs',
  traces: 'trace-db',
} as const

/** Where snapshots are made, in the data folder, so that their files can be links. */
const SNAPSHOTS = 'snapshots'

export function snapshotsFolder(dataFolder: string): string {
  return join(dataFolder, SNAPSHOTS)
}

/** Files below a folder, in any number; their names begin with a prefix. */
export async function* filesOf(
  folder: string,
  prefix: string,
  isPart: (name: string) => boolean = () => true,
): AsyncGenerator<SnapshotFile> {
  for await (const entry of await opendir(folder, { recursive: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const name = prefix + relative(folder, path).split(sep).join('/')
    if (isPart(name)) yield { name, path, size: (await lstat(path)).size }
  }
}

/** The bytes of files together. */
export async function bytesIn(files: AsyncIterable<SnapshotFile>, signal?: AbortSignal): Promise<number> {
  let bytes = 0
  for await (const { size } of files) {
    signal?.throwIfAborted()
    bytes += size
  }
  return bytes
}
