import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pMap from 'p-map'
import { fileError } from '../disk-errors.ts'
import type { Blobs } from './port.ts'

/** While one link waits for the disk, others are made. */
const LINKS_AT_ONCE = 16

/** A folder with links to all blobs of one moment. */
export interface KeptBlobs extends Disposable {
  /**
   * Links all blobs; some that were put since the moment may be among them. Nothing is linked any more once this ends.
   * @param onLinked called with their number so far
   * @throws what linking one of them, or one that was deleted, failed with
   */
  linkAll(onLinked: (blobs: number) => void, signal: AbortSignal): Promise<void>
}

/** Keeps blobs that are deleted. */
export interface BlobKeeping {
  /**
   * From now until disposal, a blob that is deleted is linked into a folder before. One folder at a time.
   * @throws Error when another one is kept
   */
  keepInto(folder: string): KeptBlobs
  /** To be called before a blob is deleted. */
  beforeDelete(key: string): Promise<void>
}

interface KeptFolder {
  path: string
  /** What a link failed with. It is not the fault of the caller that deletes. */
  failure: unknown
}

/** @param linkTo fails with EEXIST or ENOENT where a blob is kept already or gone */
export function createBlobKeeping(deps: {
  list: Blobs['list']
  linkTo: (key: string, path: string) => Promise<unknown>
}): BlobKeeping {
  let kept: KeptFolder | undefined

  async function linkInto(folder: KeptFolder, key: string): Promise<void> {
    const path = join(folder.path, key)
    try {
      await mkdir(dirname(path), { recursive: true })
      await deps.linkTo(key, path).catch(unlessKeptOrGone)
    } catch (error) {
      folder.failure = fileError(error)
    }
  }

  return {
    keepInto(path) {
      if (kept !== undefined) throw new Error(`Blobs are kept in ${kept.path} already`)
      const own: KeptFolder = { path, failure: undefined }
      kept = own
      return {
        async linkAll(onLinked, signal) {
          let linked = 0
          async function* untilEnded(): AsyncGenerator<string> {
            for await (const { key } of deps.list('')) {
              if (signal.aborted || own.failure !== undefined) return
              yield key
            }
          }
          async function linkNext(key: string): Promise<void> {
            await linkInto(own, key)
            onLinked(++linked)
          }
          await pMap(untilEnded(), linkNext, { concurrency: LINKS_AT_ONCE })
          signal.throwIfAborted()
          if (own.failure !== undefined) throw own.failure
        },
        [Symbol.dispose]() {
          if (kept === own) kept = undefined
        },
      }
    },
    async beforeDelete(key) {
      if (kept !== undefined) await linkInto(kept, key)
    },
  }
}

function unlessKeptOrGone(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'EEXIST' && code !== 'ENOENT') throw error
}
