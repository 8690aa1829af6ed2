import { createReadStream, createWriteStream } from 'node:fs'
import { access, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { newId } from '../../ids.ts'
import type { FileBlobs } from '../blobs/files.ts'
import type { Blobs } from '../blobs/port.ts'
import type { LaidOutFile, Workspace } from './port.ts'

/** Names are parts of letters, digits, `_`, `-`, `.`, so that none can leave the root. */
const NAME_PATTERN = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

const NO_FILES = new Set(['', '.', '..'])

/** Any blob store; blobs that are files of this machine need not be copied. */
export type WorkspaceBlobs = Pick<Blobs, 'open'> & Partial<Pick<FileBlobs, 'linkTo'>>

/** A workspace whose root is a folder of this machine. */
export async function openFolderWorkspace(root: string, blobs: WorkspaceBlobs): Promise<Workspace> {
  await mkdir(root, { recursive: true })

  function pathOf(folder: string): string {
    if (!NAME_PATTERN.test(folder)) throw new Error(`Bad name of a folder in the workspace: ${folder}`)
    return join(root, folder)
  }

  async function layOut({ name, blobKey }: LaidOutFile, path: string): Promise<boolean> {
    if (name !== basename(name) || NO_FILES.has(name))
      throw new Error(`Bad name of a file in the workspace: ${name}`)
    if (blobs.linkTo !== undefined) return blobs.linkTo(blobKey, path)
    const found = await blobs.open(blobKey)
    if (found !== undefined) await pipeline(found.bytes, createWriteStream(path))
    return found !== undefined
  }

  return {
    async materialise(folder, files) {
      const target = pathOf(folder)
      const aside = `${target}.${newId()}`
      try {
        await mkdir(aside, { recursive: true })
        for (const file of files) {
          const isThere = await layOut(file, join(aside, file.name))
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

    async remove(folder) {
      await rm(pathOf(folder), { recursive: true, force: true })
    },
  }
}
