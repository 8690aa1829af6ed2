import { mkdir, readdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { conflict, invalidRequest, messageOf } from '../../errors.ts'
import { isMissing } from '../disk-errors.ts'
import { type ArchiveEntries, notWhole, readFolderArchive, readTarArchive } from './archive.ts'
import { type Digest, FOLDER_MODE, syncFolder, writeDurably } from './durable-files.ts'
import { isFileName, MANIFEST, type Manifest, readManifest } from './manifest.ts'

/** A data folder that was made of a backup. */
export interface Restored {
  takenAt: string
  /** The version that made the backup. */
  heddle: string
  files: number
  bytes: number
}

/** The program that reads the backup. */
export interface RestoringProgram {
  version: string
  /** Migrations of the control database that it knows. */
  migrations: readonly string[]
}

/** The folder has this name until it is whole. */
const ASIDE = '.restoring'

/** A manifest with a million files. */
const MANIFEST_BYTES_MAX = 512 * 1024 * 1024

/**
 * Makes a data folder of a backup: aside, renamed when every file has proved to be as it was backed up.
 * @throws 400 for a backup that is damaged, not whole or of a newer version, 409 for a folder that is not empty
 */
export async function restoreBackup(
  backup: string,
  dataFolder: string,
  program: RestoringProgram,
): Promise<Restored> {
  const target = resolve(dataFolder)
  await requireEmpty(target)
  const aside = `${target}${ASIDE}`
  await rm(aside, { recursive: true, force: true })
  try {
    await mkdir(aside, { recursive: true, mode: FOLDER_MODE })
    const { manifest, folders } = await unpack(await entriesOf(backup), { backup, aside, program })
    for (const { name, link } of manifest.links) {
      const path = join(aside, name)
      await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
      await symlink(link, path)
      folders.add(dirname(path))
    }
    for (const folder of folders) await syncFolder(folder)
    await nameWhole(aside, target)
    return {
      takenAt: manifest.taken_at,
      heddle: manifest.heddle,
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    }
  } catch (error) {
    await rm(aside, { recursive: true, force: true })
    throw error
  }
}

async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw conflict(`${folder} cannot be restored into: ${messageOf(error)}`)
  })
  if (names.length > 0) throw conflict(`${folder} is not empty: a backup is restored into a new folder`)
}

async function entriesOf(backup: string): Promise<ArchiveEntries> {
  const found = await stat(backup).catch(() => undefined)
  if (found === undefined) throw invalidRequest(`There is no backup ${backup}`)
  return found.isDirectory() ? readFolderArchive(backup) : readTarArchive(backup)
}

/** Writes the files of a backup, and compares them with its manifest, which comes first or last. */
async function unpack(
  entries: ArchiveEntries,
  { backup, aside, program }: { backup: string; aside: string; program: RestoringProgram },
): Promise<{ manifest: Manifest; folders: Set<string> }> {
  let manifest: Manifest | undefined
  const written = new Map<string, Digest>()
  const folders = new Set([aside])
  for await (const { name, bytes } of entries) {
    if (name === MANIFEST) {
      manifest = readManifest(await textOf(bytes), program)
      continue
    }
    if (!isFileName(name)) throw damaged(backup, `it has a file with the name ${JSON.stringify(name)}`)
    const path = join(aside, name)
    written.set(name, await writeDurably(path, bytes))
    for (let at = dirname(path); at !== aside; at = dirname(at)) folders.add(at)
  }
  if (manifest === undefined) throw notWhole(backup)
  for (const { name, size, sha256 } of manifest.files) {
    const found = written.get(name)
    if (found === undefined) throw damaged(backup, `the file ${name} is missing`)
    if (found.size !== size || found.sha256 !== sha256)
      throw damaged(backup, `the file ${name} is not as it was backed up`)
    written.delete(name)
  }
  const [extra] = written.keys()
  if (extra !== undefined) throw damaged(backup, `the file ${extra} does not belong to it`)
  return { manifest, folders }
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    size += piece.byteLength
    if (size > MANIFEST_BYTES_MAX) throw invalidRequest('The manifest of the backup is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

async function nameWhole(aside: string, target: string): Promise<void> {
  await rename(aside, target).catch((error: unknown) => {
    throw conflict(
      `The restored folder cannot be named ${target} (${messageOf(error)}); where that is a mounted volume, name a folder in it`,
    )
  })
  await syncFolder(dirname(target))
}

function damaged(backup: string, reason: string): Error {
  return invalidRequest(`The backup ${backup} is damaged, and nothing was restored: ${reason}`)
}
