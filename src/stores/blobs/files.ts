import { createWriteStream } from 'node:fs'
import { constants, copyFile, link, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { LRUCache } from 'lru-cache'
import { newId } from '../../ids.ts'
import { inOrderByKey } from '../../in-order.ts'
import { fileError, isMissing } from '../disk-errors.ts'
import { type BlobKeeping, createBlobKeeping } from './kept-blobs.ts'
import { type Blobs, blobKey, isBlobKey } from './port.ts'

/** Folders known to be on disk; one that was dropped from this list costs an fsync. */
const KNOWN_FOLDERS_MAX = 10_000

/** Blobs on this machine, which a folder workspace can link to. */
export interface FileBlobs extends Blobs {
  /**
   * Makes a file of a blob, for a folder workspace beside it: a hard link, which costs nothing, or across file systems
   * a copy. It must not be written to. False for an unknown key.
   */
  linkTo(key: string, path: string): Promise<boolean>
  keepInto: BlobKeeping['keepInto']
}

/** Blobs as files below `folder`: written aside, fsynced, renamed, and the folder fsynced. */
export async function openFileBlobs(folder: string): Promise<FileBlobs> {
  const root = join(folder, 'blobs')
  const aside = join(root, '.aside')
  const onDisk = new LRUCache<string, true>({ max: KNOWN_FOLDERS_MAX })
  // Temporary files of writes that a crash interrupted, which were never acknowledged.
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { recursive: true })

  /** Changes of the file of a key: a blob that is deleted because it is unchanged is not put again meanwhile. */
  const inTurn = inOrderByKey()

  const pathOf = (key: string): string => join(root, blobKey(key))

  /** A new folder is on disk once those that it lies in are; an earlier run may have been interrupted before that. */
  async function makeFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true })
    if (onDisk.has(path)) return
    for (let made = path; made !== root; made = dirname(made)) await sync(dirname(made))
    onDisk.set(path, true)
  }

  async function publish(key: string, write: (path: string) => Promise<void>): Promise<void> {
    const target = pathOf(key)
    const temporary = join(aside, newId())
    try {
      await write(temporary)
      await sync(temporary)
      await makeFolder(dirname(target))
      await inTurn(key, () => rename(temporary, target))
      await sync(dirname(target))
    } catch (error) {
      await rm(temporary, { force: true })
      throw fileError(error)
    }
  }

  /** False for an unknown key. */
  async function linkTo(key: string, path: string): Promise<boolean> {
    const source = pathOf(key)
    if ((await unlessMissing(stat(source))) === undefined) return false
    await link(source, path).catch(() => copyFile(source, path, constants.COPYFILE_EXCL))
    return true
  }

  async function* list(prefix: string): AsyncGenerator<{ key: string; modifiedAt: number }> {
    for await (const path of filesBelow(join(root, prefix))) {
      const modifiedAt = await modifiedAtOf(path)
      const key = relative(root, path).split(sep).join('/')
      if (modifiedAt !== undefined && isBlobKey(key)) yield { key, modifiedAt }
    }
  }

  const keeping = createBlobKeeping({ list, linkTo })

  async function remove(key: string): Promise<void> {
    await keeping.beforeDelete(key)
    await rm(pathOf(key), { force: true })
  }

  return {
    put(key, bytes) {
      const source = bytes instanceof Readable ? bytes : Readable.from([bytes])
      return publish(key, (path) => pipeline(source, createWriteStream(path)))
    },
    async open(key, range) {
      const path = pathOf(key)
      const handle = await unlessMissing(open(path))
      if (handle === undefined) return undefined
      try {
        const { size } = await handle.stat()
        return { size, bytes: handle.createReadStream(range) }
      } catch (error) {
        await handle.close()
        throw error
      }
    },
    async stat(key) {
      const found = await unlessMissing(stat(pathOf(key)))
      return found && { size: found.size, modifiedAt: found.mtimeMs }
    },
    linkTo,
    keepInto: keeping.keepInto,
    delete: (key) => inTurn(key, () => remove(key)),
    list,
    deleteUnchanged: (key, modifiedAt) =>
      inTurn(key, async () => {
        if ((await modifiedAtOf(pathOf(key))) !== modifiedAt) return false
        await remove(key)
        return true
      }),
    async [Symbol.asyncDispose]() {},
  }
}

/** Paths of files, in any number; none for a folder that does not exist. */
async function* filesBelow(folder: string): AsyncGenerator<string> {
  try {
    for await (const entry of await opendir(folder, { recursive: true }))
      if (entry.isFile()) yield join(entry.parentPath, entry.name)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

/** In milliseconds since 1970; undefined for a file that is gone. */
async function modifiedAtOf(path: string): Promise<number | undefined> {
  return (await unlessMissing(stat(path)))?.mtimeMs
}

/** Undefined where the file does not exist. */
async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}
