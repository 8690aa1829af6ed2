import { createWriteStream } from 'node:fs'
import { access, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { diskFailed } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { Blobs } from './port.ts'

/** Keys are parts of letters, digits, `_`, `-`, `.`, so that none can leave the folder. */
const KEY_PATTERN = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

/** Blobs as files below `folder`: written aside, fsynced, renamed, and the folder fsynced. */
export async function openFileBlobs(folder: string): Promise<Blobs> {
  const root = join(folder, 'blobs')
  const aside = join(root, '.aside')
  const onDisk = new Set<string>()
  // What a crash left aside was never acknowledged.
  await rm(aside, { recursive: true, force: true })
  await mkdir(aside, { recursive: true })

  function pathOf(key: string): string {
    if (!KEY_PATTERN.test(key)) throw new Error(`Bad blob key: ${key}`)
    return join(root, key)
  }

  /** A new folder is on disk once those that it lies in are; what an earlier run left may have missed that. */
  async function makeFolder(path: string): Promise<void> {
    await mkdir(path, { recursive: true })
    if (onDisk.has(path)) return
    for (let made = path; made !== root; made = dirname(made)) await sync(dirname(made))
    onDisk.add(path)
  }

  async function publish(key: string, write: (path: string) => Promise<void>): Promise<void> {
    const target = pathOf(key)
    const temporary = join(aside, newId())
    try {
      await write(temporary)
      await sync(temporary)
      await makeFolder(dirname(target))
      await rename(temporary, target)
      await sync(dirname(target))
    } catch (error) {
      await rm(temporary, { force: true })
      throw diskFailed(error) ?? error
    }
  }

  return {
    put(key, bytes) {
      const source = bytes instanceof Readable ? bytes : Readable.from([bytes])
      return publish(key, (path) => pipeline(source, createWriteStream(path)))
    },
    async get(key) {
      try {
        return await readFile(pathOf(key))
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    },
    async localPath(key) {
      const path = pathOf(key)
      return (await exists(path)) ? path : undefined
    },
    async delete(key) {
      await rm(pathOf(key), { force: true })
    },
    async [Symbol.asyncDispose]() {},
  }
}

async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
