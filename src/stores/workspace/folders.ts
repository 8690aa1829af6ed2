import { createReadStream, createWriteStream } from 'node:fs'
import { access, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { newId } from '../../ids.ts'
import type { FileBlobs } from '../blobs/files.ts'
import type { Blobs } from '../blobs/port.ts'
import { markerOf } from './marker.ts'
import { fileName, folderName } from './names.ts'
import type { Workspace } from './port.ts'

/** Any blob store; blobs that are files of this machine need not be copied. */
export type WorkspaceBlobs = Pick<Blobs, 'open'> & Partial<Pick<FileBlobs, 'linkTo'>>

/**
 * A workspace whose root is a folder of this machine.
 * @throws Error for a folder with files that Heddle has not made
 */
export async function openFolderWorkspace(root: string, blobs: WorkspaceBlobs): Promise<Workspace> {
  markerOf(root)

  const pathOf = (folder: string): string => join(root, folderName(folder))

  async function layOut(blobKey: string, path: string): Promise<boolean> {
    if (blobs.linkTo !== undefined) return blobs.linkTo(blobKey, path)
    const found = await blobs.open(blobKey)
    if (found !== undefined) await pipeline(found.bytes, createWriteStream(path))
    return found !== undefined
  }

  return {
    isShared: false,

    async materialise(folder, files) {
      const target = pathOf(folder)
      const aside = `${target}.${newId()}`
      try {
        await mkdir(aside, { recursive: true })
        for (const file of files) {
          const isThere = await layOut(file.blobKey, join(aside, fileName(file.name)))
          if (!isThere) throw new Error(`The bytes of ${file.name} (${file.blobKey}) are missing`)
        }
        await rm(target, { recursive: true, force: true })
        await rename(aside, target)
      } catch (error) {
        await rm(aside, { recursive: true, force: true })
        throw error
      }
    },

    async prepare(folder) {
      await mkdir(dirname(pathOf(folder)), { recursive: true })
    },

    async *collect(folder) {
      const path = pathOf(folder)
      for (const name of (await readdir(path)).sort())
        yield { name, bytes: () => createReadStream(join(path, name)) }
    },

    has: (folder) =>
      access(pathOf(folder)).then(
        () => true,
        () => false,
      ),

    list: (folder) => readdir(pathOf(folder)).catch(() => []),

    async listOld(folder, before) {
      const path = pathOf(folder)
      const names = await readdir(path).catch(() => [])
      const times = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => undefined)))
      return names.filter((_, index) => (times[index]?.mtimeMs ?? before) < before)
    },

    async remove(folder) {
      await rm(pathOf(folder), { recursive: true, force: true })
    },
  }
}
