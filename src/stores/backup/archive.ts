import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, pack } from 'tar-stream'
import { invalidRequest, messageOf } from '../../errors.ts'
import { FOLDER_MODE } from '../folder-mode.ts'
import { bytesOf, createMeter, type Digest, FILE_MODE, syncFolder, writeDurably } from './durable-files.ts'
import { MANIFEST } from './manifest.ts'
import { filesOf, type SnapshotFile } from './snapshot.ts'

/** Where a backup is written: a folder, or one file. */
export interface ArchiveWriter {
  /** Adds a file. Several may be added at once. */
  add(file: SnapshotFile): Promise<Digest>
  /** Adds the manifest; all of the backup is on disk once this resolves. */
  finish(manifest: string): Promise<void>
  /** Resolves when nothing is written any more. What was written stays. */
  abandon(): Promise<void>
}

/** Files of a backup in the order in which they are read; each is read to its end before the next. */
export type ArchiveEntries = AsyncGenerator<{ name: string; bytes: AsyncIterable<Uint8Array> }>

/** Whether a backup of this name is one file. */
export function isTar(path: string): boolean {
  return path.endsWith('.tar')
}

/** Makes a folder that does not exist yet. */
export async function createFolderArchive(path: string): Promise<ArchiveWriter> {
  await mkdir(path, { mode: FOLDER_MODE })
  const folders = new Set([path])
  const writing = new Set<Promise<Digest>>()
  const abandoning = new AbortController()
  return {
    add(file) {
      const target = join(path, file.name)
      for (let at = dirname(target); at !== path; at = dirname(at)) folders.add(at)
      const writes = writeDurably(target, bytesOf(file.path, abandoning.signal)).finally(() =>
        writing.delete(writes),
      )
      writing.add(writes)
      return writes
    },
    async finish(manifest) {
      for (const folder of folders) await syncFolder(folder)
      await writeDurably(join(path, MANIFEST), Readable.from([Buffer.from(manifest)]))
      await syncFolder(path)
    },
    async abandon() {
      abandoning.abort()
      await Promise.allSettled(writing)
    },
  }
}

/** Makes a tar file that does not exist yet; files are written one after the other. */
export async function createTarArchive(path: string): Promise<ArchiveWriter> {
  const handle = await open(path, 'wx', FILE_MODE)
  const tar = pack()
  const written = pipeline(tar, handle.createWriteStream({ flush: true }))
  // Whoever adds the next file gets the error.
  written.catch(() => undefined)
  let last: Promise<unknown> = Promise.resolve()

  async function write(name: string, size: number, bytes: AsyncIterable<Uint8Array>): Promise<Digest> {
    const meter = createMeter()
    try {
      await pipeline(meter.pass(bytes), tar.entry({ name, size }))
    } catch (error) {
      await written
      throw error
    }
    return meter.digest()
  }

  return {
    add({ name, size, path: source }) {
      const writing = last.then(() => write(name, size, bytesOf(source)))
      last = writing
      return writing
    },
    async finish(manifest) {
      const bytes = Buffer.from(manifest)
      await write(MANIFEST, bytes.byteLength, Readable.from([bytes]))
      tar.finalize()
      await written
    },
    async abandon() {
      tar.destroy()
      await written.catch(() => undefined)
    },
  }
}

/** The manifest first. @throws 400 where there is none */
export async function* readFolderArchive(path: string): ArchiveEntries {
  const manifest = await open(join(path, MANIFEST)).catch(() => undefined)
  if (manifest === undefined) throw notWhole(path)
  yield { name: MANIFEST, bytes: manifest.createReadStream() }
  for await (const { name, path: file } of filesOf(path, ''))
    if (name !== MANIFEST) yield { name, bytes: bytesOf(file) }
}

/** The manifest last, as it was written. @throws 400 for a file that is cut or no tar file */
export async function* readTarArchive(path: string): ArchiveEntries {
  const tar = extract()
  const reading = pipeline(createReadStream(path), tar)
  reading.catch(() => undefined)
  try {
    for await (const entry of tar) {
      const name = entry.header.name.replace(/^\.\//, '')
      // Its types do not say so, but it consists of bytes.
      if (entry.header.type !== 'directory') yield { name, bytes: entry as AsyncIterable<Uint8Array> }
      entry.resume()
    }
    await reading
  } catch (error) {
    throw invalidRequest(`The backup ${path} is damaged, and nothing was restored: ${messageOf(error)}`)
  }
}

/** 400: the backup was interrupted, or it is none. */
export function notWhole(path: string): Error {
  return invalidRequest(`${path} is not a whole backup: it has no ${MANIFEST}, which is written last`)
}
