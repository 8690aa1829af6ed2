import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { z } from 'zod'
import { newId } from '../../ids.ts'
import type { Blobs } from '../../stores/blobs/port.ts'

/** One file of a checkpoint; its bytes are a blob. */
export const ManifestEntry = z.object({ name: z.string(), digest: z.string(), size: z.int() })
export type ManifestEntry = z.output<typeof ManifestEntry>

/** What PEFT and vLLM read; the rest of a checkpoint only serves to train on. */
const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors']

/** A checkpoint's files, safe in the blob store. */
export interface StoredFiles {
  manifest: ManifestEntry[]
  /** Equal for checkpoints that answer alike. */
  adapter_digest: string
}

export type CheckpointFiles = ReturnType<typeof createCheckpointFiles>

/** Moves checkpoint files between the blob store and folders that the engine reads. */
export function createCheckpointFiles({ blobs, folder }: { blobs: Blobs; folder: string }) {
  const laying = new Map<string, Promise<string>>()

  /** Lays files out once per content; later calls share the folder. */
  function layOut(digest: string, kind: 'adapters' | 'checkpoints', manifest: readonly ManifestEntry[]) {
    const target = join(folder, kind, digest)
    let work = laying.get(target)
    if (work === undefined) {
      work = materialise(blobs, target, manifest)
      laying.set(target, work)
      work.catch(() => laying.delete(target))
    }
    return work
  }

  return {
    /** Stores every file of a folder. */
    async store(directory: string): Promise<StoredFiles> {
      const manifest: ManifestEntry[] = []
      for (const name of (await readdir(directory)).sort()) {
        const path = join(directory, name)
        const digest = await digestOfFile(path)
        await blobs.putFile(blobKey(digest), path)
        manifest.push({ name, digest, size: (await stat(path)).size })
      }
      const adapter = manifest.filter((entry) => ADAPTER_FILES.includes(entry.name))
      if (adapter.length !== ADAPTER_FILES.length) throw new Error(`No complete adapter in ${directory}`)
      return { manifest, adapter_digest: digestOfManifest(adapter) }
    },

    /** A folder with the whole checkpoint, to train from. */
    checkpointFolder: (manifest: readonly ManifestEntry[]) =>
      layOut(digestOfManifest(manifest), 'checkpoints', manifest),

    /** A folder with the adapter alone, to serve from. */
    adapterFolder: (files: StoredFiles) =>
      layOut(
        files.adapter_digest,
        'adapters',
        files.manifest.filter((entry) => ADAPTER_FILES.includes(entry.name)),
      ),

    /** A folder that does not exist yet, for the engine to write to. */
    async outputFolder(): Promise<string> {
      const outputs = join(folder, 'outputs')
      await mkdir(outputs, { recursive: true })
      return join(outputs, newId())
    },

    /** Removes what an engine wrote, complete or not. */
    async removeOutput(path: string): Promise<void> {
      await Promise.all([path, `${path}.partial`].map((each) => rm(each, { recursive: true, force: true })))
    },

    /** Everything below this folder can be made again, so a start begins without it. */
    async clear(): Promise<void> {
      laying.clear()
      for (const kind of ['outputs', 'adapters', 'checkpoints']) {
        await rm(join(folder, kind), { recursive: true, force: true })
      }
    },

    deleteBlob: (digest: string) => blobs.delete(blobKey(digest)),
  }
}

async function materialise(
  blobs: Blobs,
  target: string,
  manifest: readonly ManifestEntry[],
): Promise<string> {
  const aside = `${target}.${newId()}`
  await mkdir(aside, { recursive: true })
  for (const { name, digest } of manifest) {
    const source = await blobs.localPath(blobKey(digest))
    if (source === undefined) throw new Error(`File ${name} (${digest}) of a checkpoint is missing`)
    // A link costs nothing; across file systems only a copy works.
    await link(source, join(aside, name)).catch(() => copyFile(source, join(aside, name)))
  }
  await rm(target, { recursive: true, force: true })
  await rename(aside, target)
  return target
}

function blobKey(digest: string): string {
  return `checkpoints/${digest.slice(0, 2)}/${digest}`
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

function digestOfManifest(manifest: readonly ManifestEntry[]): string {
  const hash = createHash('sha256')
  for (const { name, digest } of manifest) hash.update(`${name}\0${digest}\n`)
  return hash.digest('hex')
}
