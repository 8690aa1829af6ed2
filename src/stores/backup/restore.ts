import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir, stat, symlink } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { conflict, invalidRequest, messageOf } from '../../errors.ts'
import { LOCK_FILES, makeDataFolder, openDataFolder, RESTORING } from '../data-folder.ts'
import { isMissing } from '../disk-errors.ts'
import { FOLDER_MODE } from '../folder-mode.ts'
import { type ArchiveEntries, notWhole, readFolderArchive, readTarArchive } from './archive.ts'
import { type Digest, syncFolder, writeDurably } from './durable-files.ts'
import { isFileName, MANIFEST, type Manifest, readManifest } from './manifest.ts'
import { requireRoom } from './room.ts'
import { BACKED_UP, bytesIn, filesOf } from './snapshot.ts'

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

/** A manifest with a million files. */
const MANIFEST_BYTES_MAX = 512 * 1024 * 1024

/** What a backup has at the root of a data folder. */
const RESTORED = new Set<string>(Object.values(BACKED_UP))

/** What an empty folder may have: the lock of a restore, and the folder that is at the root of each ext4 volume. */
const IN_EMPTY = new Set([...LOCK_FILES, 'lost+found'])

/**
 * Makes a data folder of a backup: in a folder inside of it, whose entries take their places when every file has proved
 * to be as it was backed up. Until then no server starts on it, also after a crash, and a restore begins anew.
 * @throws 400 for a backup that is damaged, not whole or of a newer version, 409 for a folder that is not empty or has
 * no room for it, Error for one that another process holds
 */
export async function restoreBackup(
  backup: string,
  dataFolder: string,
  program: RestoringProgram,
): Promise<Restored> {
  const target = resolve(dataFolder)
  await requireEmpty(target)
  const isNew = makeFolder(target)
  using held = openDataFolder(target, 'restore')
  // Another restore may have ended meanwhile.
  await requireEmpty(target)
  try {
    await removeInterrupted(target)
    const manifest = await restoreInto(target, backup, program)
    if (isNew) await syncFolder(dirname(target))
    return {
      takenAt: manifest.taken_at,
      heddle: manifest.heddle,
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, { size }) => sum + size, 0),
    }
  } catch (error) {
    await removeInterrupted(target)
    held.removeLock()
    // What another process has put there stays.
    if (isNew) await rmdir(target).catch(() => undefined)
    throw error
  }
}

/** Passes for a folder that is missing, and for what an interrupted restore has left. */
async function requireEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (isMissing(error)) return []
    throw notPossible(folder, error)
  })
  const isInterrupted = names.includes(RESTORING)
  const isOwn = (name: string): boolean =>
    IN_EMPTY.has(name) || (isInterrupted && (name === RESTORING || RESTORED.has(name)))
  if (!names.every(isOwn)) throw conflict(`${folder} is not empty: a backup is restored into a new folder`)
}

/** @returns whether there was none */
function makeFolder(path: string): boolean {
  try {
    return makeDataFolder(path)
  } catch (error) {
    throw notPossible(path, error)
  }
}

/** Its mark is removed last. */
async function removeInterrupted(target: string): Promise<void> {
  const restoring = join(target, RESTORING)
  if (!existsSync(restoring)) return
  for (const name of RESTORED) await rm(join(target, name), { recursive: true, force: true })
  await rm(restoring, { recursive: true, force: true })
}

async function restoreInto(target: string, backup: string, program: RestoringProgram): Promise<Manifest> {
  const { entries, bytes } = await openBackup(backup)
  await requireRoom(bytes, target)
  const restoring = join(target, RESTORING)
  await mkdir(restoring, { mode: FOLDER_MODE })
  const { manifest, folders } = await unpack(entries, { backup, restoring, program })
  for (const { name, link } of manifest.links) {
    requirePart(name, backup)
    const path = join(restoring, name)
    await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE })
    await symlink(link, path)
    folders.add(dirname(path))
  }
  for (const folder of [...folders, target]) await syncFolder(folder)
  for (const name of await readdir(restoring)) await rename(join(restoring, name), join(target, name))
  await syncFolder(target)
  await rmdir(restoring)
  await syncFolder(target)
  return manifest
}

async function openBackup(backup: string): Promise<{ entries: ArchiveEntries; bytes: number }> {
  const found = await stat(backup).catch(() => undefined)
  if (found === undefined) throw invalidRequest(`There is no backup ${backup}`)
  return found.isDirectory()
    ? { entries: readFolderArchive(backup), bytes: await bytesIn(filesOf(backup, '')) }
    : { entries: readTarArchive(backup), bytes: found.size }
}

/** Writes the files of a backup, and compares them with its manifest, which comes first or last. */
async function unpack(
  entries: ArchiveEntries,
  { backup, restoring, program }: { backup: string; restoring: string; program: RestoringProgram },
): Promise<{ manifest: Manifest; folders: Set<string> }> {
  let manifest: Manifest | undefined
  const written = new Map<string, Digest>()
  const folders = new Set([restoring])
  for await (const { name, bytes } of entries) {
    if (name === MANIFEST) {
      manifest = readManifest(await textOf(bytes), program)
      continue
    }
    requirePart(name, backup)
    const path = join(restoring, name)
    written.set(name, await writeDurably(path, bytes))
    for (let at = dirname(path); at !== restoring; at = dirname(at)) folders.add(at)
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

function requirePart(name: string, backup: string): void {
  const [root = ''] = name.split('/')
  if (!isFileName(name) || !RESTORED.has(root))
    throw damaged(backup, `it has a file with the name ${JSON.stringify(name)}`)
}

function notPossible(folder: string, error: unknown): Error {
  return conflict(`${folder} cannot be restored into: ${messageOf(error)}`)
}

function damaged(backup: string, reason: string): Error {
  return invalidRequest(`The backup ${backup} is damaged, and nothing was restored: ${reason}`)
}
