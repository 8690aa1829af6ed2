import { mkdir } from 'node:fs/promises'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { S3Options } from '../blobs/s3-address.ts'
import { createS3Client } from '../blobs/s3-client.ts'
import { s3Error } from '../blobs/s3-errors.ts'
import { objectOf } from '../blobs/s3-objects.ts'
import { workspaceOf } from './bucket-address.ts'
import { copyObject } from './bucket-copies.ts'
import { type BucketFolder, createBucketFolders } from './bucket-folders.ts'
import { removeLeftovers } from './bucket-leftovers.ts'
import { fileName, folderName } from './names.ts'
import type { LaidOutFile, Workspace } from './port.ts'

/** Files of one folder that are copied at once. */
const FILES_AT_ONCE = 4

export interface BucketWorkspaceOptions {
  log: Pick<Log, 'warn'>
  /** Engines of this machine run in it, and copy to it. */
  folder: string
  /** For tests: larger files are copied in parts. */
  partBytes?: number
}

/**
 * A workspace in the bucket of the blobs, which engines anywhere reach. Blobs are laid out by copies that S3 makes.
 * @param options the bucket of the blobs, which is known to be usable
 */
export async function openBucketWorkspace(
  options: S3Options,
  { log, folder: enginesFolder, partBytes }: BucketWorkspaceOptions,
): Promise<Workspace & AsyncDisposable> {
  await mkdir(enginesFolder, { recursive: true })
  const s3 = createS3Client(options, options.endpoint)
  const { bucket } = options
  const folders = createBucketFolders(s3, workspaceOf(options))
  const leftovers = removeLeftovers({ folders, log })

  async function layOut(folder: string, files: readonly LaidOutFile[], made: BucketFolder): Promise<void> {
    const copyFile = async ({ name, blobKey }: LaidOutFile, index: number): Promise<void> => {
      const copy = {
        from: objectOf(options, blobKey).Key,
        to: folders.fileKey(folder, made.generation, index),
      }
      const bytes = await copyObject(s3, bucket, copy, partBytes)
      if (bytes === undefined) throw new Error(`The bytes of ${name} (${blobKey}) are missing`)
      made.files[index] = { name, bytes }
    }
    try {
      // Until none is in progress any more: what is copied after a failure would stay.
      await pMap(files, copyFile, { concurrency: FILES_AT_ONCE, stopOnError: false })
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error
    }
  }

  async function materialise(folder: string, files: readonly LaidOutFile[]): Promise<void> {
    const names = files.map(({ name }) => ({ name: fileName(name), bytes: 0 }))
    const made: BucketFolder = { generation: newId(), files: names }
    const before = await folders.read(folder)
    try {
      await layOut(folder, files, made)
    } catch (error) {
      await tryToDelete(folder, made)
      throw error
    }
    await publish(folder, made)
    if (before !== undefined) await tryToDelete(folder, before)
  }

  /** Of a list whose answer was lost, only the bucket knows whether it is stored: its files stay in any case. */
  async function publish(folder: string, made: BucketFolder): Promise<void> {
    try {
      await folders.write(folder, made)
    } catch (error) {
      const stored = await folders.read(folder).catch(() => undefined)
      if (stored?.generation !== made.generation) throw error
    }
  }

  /** Files that stay are found as leftovers. */
  async function tryToDelete(folder: string, content: BucketFolder): Promise<void> {
    await folders.deleteFiles(folder, content).catch(() => undefined)
  }

  async function* bytesOf(Key: string): AsyncGenerator<Uint8Array> {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key })).catch(raise)
    if (Body === undefined || !(Symbol.asyncIterator in Body)) throw new TypeError('a file has bytes')
    yield* Body as AsyncIterable<Uint8Array>
  }

  return {
    isShared: true,
    materialise: async (folder, files) => materialise(folderName(folder), files).catch(raise),

    async prepare(folder) {
      folderName(folder)
    },

    async *collect(folder) {
      const content = await folders.read(folderName(folder)).catch(raise)
      if (content === undefined) throw new Error(`There is no folder ${folder} in the workspace`)
      const keys = new Map(
        content.files.map(({ name }, index) => [name, folders.fileKey(folder, content.generation, index)]),
      )
      for (const [name, key] of [...keys].sort(([one], [other]) => (one < other ? -1 : 1)))
        yield { name, bytes: () => bytesOf(key) }
    },

    has: async (folder) => (await folders.read(folderName(folder)).catch(raise)) !== undefined,

    async list(folder) {
      try {
        const own = (await folders.read(folderName(folder)))?.files.map(({ name }) => name) ?? []
        const inside = await Array.fromAsync(folders.inside(folder))
        return [...new Set([...own, ...inside.map(({ name }) => name)])].sort()
      } catch (error) {
        return raise(error)
      }
    },

    async listOld(folder, before) {
      const inside = await Array.fromAsync(folders.inside(folderName(folder))).catch(raise)
      return inside.flatMap(({ name, modifiedAt }) => ((modifiedAt ?? before) < before ? [name] : []))
    },

    async remove(folder) {
      try {
        await folders.delete(folderName(folder))
        await folders.deleteInside(folder)
      } catch (error) {
        raise(error)
      }
    },

    async [Symbol.asyncDispose]() {
      await leftovers.stop()
      s3.destroy()
    },
  }
}

function raise(error: unknown): never {
  throw s3Error(error)
}
