import type { Stats } from 'node:fs'
import { mkdir, readdir, realpath, rename, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import pMap from 'p-map'
import { conflict, invalidRequest, messageOf } from '../../errors.ts'
import { LOCK_FILES, openDataFolder } from '../data-folder.ts'
import { isMissing } from '../disk-errors.ts'
import { FOLDER_MODE } from '../folder-mode.ts'
import { type ArchiveWriter, createFolderArchive, createTarArchive, isTar } from './archive.ts'
import { syncFolder } from './durable-files.ts'
import { type FileEntry, MANIFEST, manifestText } from './manifest.ts'
import { requireRoom } from './room.ts'
import { BACKED_UP, bytesIn, type Snapshot, type SnapshotFile } from './snapshot.ts'

/** How far a backup is. */
export interface BackupProgress {
  files: number
  bytes: number
  bytesTotal: number
}

/** A backup that is whole. */
export interface WrittenBackup {
  path: string
  takenAt: string
  files: number
  bytes: number
  /** Milliseconds in which writes waited. */
  heldMs: number
}

/** Files of a folder that are copied at once: while one waits for the disk, others are read. */
const FILES_AT_ONCE = 8

/** Beside a backup, a folder with its lock and with what is written of it. */
const PARTIAL = '.partial'

/** What is being written has this name in that folder until it is whole. */
const WRITTEN = 'backup'

/**
 * Names that an interrupted backup leaves in that folder; releases before that of the lock wrote into the folder
 * itself.
 */
const OWN_NAMES = new Set<string>([WRITTEN, ...LOCK_FILES, ...Object.values(BACKED_UP), MANIFEST])

/**
 * Checks where a backup is to be written, before a snapshot is taken for it.
 * @returns the path without links
 * @throws 400 for a path that is inside the data folder, whose folder is not there or that no file can have, 409 for
 * one that is taken
 */
export async function checkTarget(path: string, dataFolder: string): Promise<string> {
  const parent = await realpath(dirname(path)).catch(() => {
    throw invalidRequest(`The folder ${dirname(path)} for the backup does not exist`)
  })
  const target = join(parent, basename(path))
  if (`${target}${sep}`.startsWith(`${await realpath(dataFolder)}${sep}`))
    throw invalidRequest(`The backup ${path} would be inside the data folder`)
  const found = await statIfThere(target)
  if (found === undefined) {
    await statIfThere(`${target}${PARTIAL}`)
    return target
  }
  const isEmpty = found.isDirectory() && !isTar(target) && (await readdir(target)).length === 0
  if (!isEmpty) throw conflict(`${path} exists already: a backup is written to a new path or an empty folder`)
  return target
}

/** @throws 400 for a path that the file system refuses */
async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw invalidRequest(
      `The backup cannot be written to ${path.slice(0, 200)}: ${messageOf(error).slice(0, 200)}`,
    )
  }
}

/**
 * Writes a backup: aside, with its manifest last, and renamed when all of it is on disk. An earlier one to the same
 * path that was interrupted is removed, and so is an empty folder of that path.
 * @param target as {@link checkTarget} returned it
 * @throws 409 where there is no room for it, or for a folder that cannot be replaced, as the root of a mounted volume,
 * or where another backup to it is being written
 */
export async function writeBackup(
  snapshot: Snapshot,
  { target, version }: { target: string; version: string },
  onProgress: (progress: BackupProgress) => void,
  signal: AbortSignal,
): Promise<WrittenBackup> {
  const bytesTotal = await bytesIn(snapshot.files(), signal)
  await requireRoom(bytesTotal, dirname(target))
  await using partial = await openPartial(target)
  await removeEmpty(target)
  const written = join(partial.path, WRITTEN)
  const archive = await createArchive(written, isTar(target) ? 'file' : 'folder')
  try {
    const files = await copyFiles(snapshot, archive, (done) => onProgress({ ...done, bytesTotal }), signal)
    const { takenAt, heldMs, migrations, links } = snapshot
    await archive.finish(
      manifestText({
        heddle: version,
        taken_at: takenAt,
        migrations: [...migrations],
        links: links.map(({ name, target: link }) => ({ name, link })),
        files,
      }),
    )
    await rename(written, target)
    await syncFolder(dirname(target))
    return { path: target, takenAt, files: files.length, bytes: bytesTotal, heldMs }
  } catch (error) {
    await archive.abandon()
    throw error
  }
}

async function createArchive(path: string, kind: 'file' | 'folder'): Promise<ArchiveWriter> {
  try {
    return await (kind === 'file' ? createTarArchive : createFolderArchive)(path)
  } catch (error) {
    throw conflict(`The backup ${path} cannot be written: ${messageOf(error)}`)
  }
}

async function copyFiles(
  snapshot: Snapshot,
  archive: ArchiveWriter,
  onProgress: (done: { files: number; bytes: number }) => void,
  signal: AbortSignal,
): Promise<FileEntry[]> {
  let bytes = 0
  const files: FileEntry[] = []
  async function copy(file: SnapshotFile): Promise<void> {
    files.push({ name: file.name, ...(await archive.add(file)) })
    bytes += file.size
    onProgress({ files: files.length, bytes })
  }
  await pMap(snapshot.files(), copy, { concurrency: FILES_AT_ONCE, signal })
  return files
}

/** What cannot be replaced is so before all is copied: the last step would fail there. */
async function removeEmpty(target: string): Promise<void> {
  await rmdir(target).catch((error: unknown) => {
    if (!isMissing(error))
      throw conflict(
        `A backup cannot take the place of ${target} (${messageOf(error)}): name a new folder in it`,
      )
  })
}

/**
 * The empty folder beside a backup, locked; it is gone after disposal.
 * @throws 409 for a path that is not what an interrupted backup leaves, or while another backup holds it
 */
async function openPartial(target: string): Promise<AsyncDisposable & { path: string }> {
  const path = `${target}${PARTIAL}`
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() && !(await readdir(path)).every((name) => OWN_NAMES.has(name)))
    throw conflict(`${path} exists already, and is no interrupted backup`)
  if (found?.isFile()) await rm(path)
  try {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE })
    using opening = new DisposableStack()
    const held = opening.use(openDataFolder(path, 'backup'))
    const clear = async (): Promise<void> => {
      for (const name of await readdir(path))
        if (!LOCK_FILES.includes(name)) await rm(join(path, name), { recursive: true })
    }
    await clear()
    const opened = opening.move()
    return {
      path,
      async [Symbol.asyncDispose]() {
        using _lock = opened
        await clear()
        held.removeLock()
        // What another process has put there stays.
        await rmdir(path).catch(() => undefined)
      },
    }
  } catch (error) {
    throw conflict(`The backup ${target} cannot be written: ${messageOf(error)}`)
  }
}
