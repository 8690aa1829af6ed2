import { createHash } from 'node:crypto'
import { access, copyFile, link, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Contents } from '../../contents.ts'
import { newId } from '../../ids.ts'

/** One file of a checkpoint; its bytes are a content. */
export const ManifestEntry = z.object({
  name: z.string(),
  digest: z.string(),
  md5: z.string(),
  size: z.int(),
})
export type ManifestEntry = z.output<typeof ManifestEntry>

/** What PEFT and vLLM read; the rest of a checkpoint only serves to train on. */
export const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors']

/** A checkpoint's files, safe on disk. */
export interface StoredFiles {
  manifest: ManifestEntry[]
  /** Equal for checkpoints that answer alike. */
  adapter_digest: string
}

export type CheckpointFiles = ReturnType<typeof createCheckpointFiles>

/** Moves checkpoint files between the contents and folders that the engine reads and writes. */
export function createCheckpointFiles({ contents, folder }: { contents: Contents; folder: string }) {
  /** Adapters that are being laid out; those that have been are found on disk. */
  const laying = new Map<string, Promise<string>>()

  return {
    /** Keeps every file of a folder for an owner. */
    async store(owner: string, directory: string): Promise<ManifestEntry[]> {
      const manifest: ManifestEntry[] = []
      for (const name of (await readdir(directory)).sort()) {
        manifest.push({ name, ...(await contents.addFile(owner, join(directory, name))) })
      }
      return manifest
    },

    /** A folder with the whole checkpoint, to train from; whoever asks removes it, or it would outlive the step. */
    checkpointFolder: (manifest: readonly ManifestEntry[]): Promise<string> =>
      materialise(contents, join(folder, 'checkpoints', newId()), manifest),

    /** A folder with the adapter alone, to serve from: laid out once, later calls share it. */
    adapterFolder(files: StoredFiles): Promise<string> {
      const target = join(folder, 'adapters', files.adapter_digest)
      let work = laying.get(target)
      if (work === undefined) {
        work = laidOut(contents, target, adapterPart(files.manifest))
        laying.set(target, work)
        const done = () => laying.delete(target)
        work.then(done, done)
      }
      return work
    },

    /** A folder that does not exist yet, for the engine to write to. */
    async outputFolder(): Promise<string> {
      const outputs = join(folder, 'outputs')
      await mkdir(outputs, { recursive: true })
      return join(outputs, newId())
    },

    /** Removes folders that were made for an engine, or that it wrote, complete or not. */
    async removeFolders(paths: readonly string[]): Promise<void> {
      const all = paths.flatMap((path) => [path, `${path}.partial`])
      await Promise.all(all.map((path) => rm(path, { recursive: true, force: true })))
    },

    /** Where a job keeps its state after each gradient step; it outlives the worker and the server. */
    workFolder: (jobId: string): string => join(folder, 'jobs', jobId),

    async removeWork(jobId: string): Promise<void> {
      await rm(join(folder, 'jobs', jobId), { recursive: true, force: true })
    },

    /** Removes the work of all other jobs: a worker may have written after its job had ended. */
    async keepWorkOf(jobs: readonly { id: string }[]): Promise<void> {
      const kept = new Set(jobs.map((job) => job.id))
      const found = await readdir(join(folder, 'jobs')).catch(() => [])
      for (const id of found) {
        if (!kept.has(id)) await rm(join(folder, 'jobs', id), { recursive: true, force: true })
      }
    },

    /** Everything but the state of open jobs can be made again, so a start begins without it. */
    async clear(): Promise<void> {
      for (const kind of ['outputs', 'adapters', 'checkpoints']) {
        await rm(join(folder, kind), { recursive: true, force: true })
      }
    },
  }
}

/** Completes a manifest of an adapter's files and possibly others. @throws Error when it lacks one of the adapter's. */
export function storedFiles(manifest: ManifestEntry[]): StoredFiles {
  const adapter = adapterPart(manifest)
  if (adapter.length !== ADAPTER_FILES.length) throw new Error('A checkpoint lacks files of its adapter')
  return { manifest, adapter_digest: digestOfManifest(adapter) }
}

export function parseManifest(text: string): ManifestEntry[] {
  return z.array(ManifestEntry).parse(JSON.parse(text))
}

function adapterPart(manifest: readonly ManifestEntry[]): ManifestEntry[] {
  return manifest.filter((entry) => ADAPTER_FILES.includes(entry.name))
}

/** A folder that has its name is whole: it got the name last. */
async function laidOut(
  contents: Contents,
  target: string,
  manifest: readonly ManifestEntry[],
): Promise<string> {
  const isThere = await access(target).then(
    () => true,
    () => false,
  )
  return isThere ? target : materialise(contents, target, manifest)
}

async function materialise(
  contents: Contents,
  target: string,
  manifest: readonly ManifestEntry[],
): Promise<string> {
  const aside = `${target}.${newId()}`
  await mkdir(aside, { recursive: true })
  for (const { name, digest } of manifest) {
    const source = await contents.localPath(digest)
    if (source === undefined) throw new Error(`File ${name} (${digest}) of a checkpoint is missing`)
    // A link costs nothing; across file systems only a copy works.
    await link(source, join(aside, name)).catch(() => copyFile(source, join(aside, name)))
  }
  await rm(target, { recursive: true, force: true })
  await rename(aside, target)
  return target
}

function digestOfManifest(manifest: readonly ManifestEntry[]): string {
  const hash = createHash('sha256')
  for (const { name, digest } of manifest) hash.update(`${name}\0${digest}\n`)
  return hash.digest('hex')
}
