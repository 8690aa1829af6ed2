import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Contents } from '../../contents/service.ts'
import { newId } from '../../ids.ts'
import type { LaidOutFile, Workspace } from '../../stores/workspace/port.ts'
import { createHeldFolders, type HeldFolder } from './held-folders.ts'

/** One file of a checkpoint; its bytes are a content. */
export const ManifestEntry = z.object({
  name: z.string(),
  digest: z.string(),
  md5: z.string(),
  size: z.int(),
})
export type ManifestEntry = z.output<typeof ManifestEntry>

/** Files that PEFT and vLLM read; the others are only needed to continue training. */
export const ADAPTER_FILES = ['adapter_config.json', 'adapter_model.safetensors']

/** A checkpoint's files, on disk. */
export interface StoredFiles {
  manifest: ManifestEntry[]
  /** Equal for checkpoints with the same weights. */
  adapter_digest: string
}

/** Copies files between the contents and the folders of the workspace, which the engine reads and writes. */
export interface CheckpointFiles {
  /** Stores every file of a folder for an owner. */
  store(owner: string, folder: string): Promise<ManifestEntry[]>
  /**
   * Lays out a whole checkpoint, to train from; the caller removes the folder, which would otherwise outlive the step.
   */
  checkpointFolder(manifest: readonly ManifestEntry[]): Promise<string>
  /**
   * Lays out the adapter alone, to serve from: once, and later calls share the folder, which stays until all have
   * released it.
   */
  holdAdapterFolder(files: StoredFiles): Promise<HeldFolder>
  /** Removes what was laid out to serve an adapter, once nothing holds it; a later request lays it out again. */
  removeAdapterFolder(digest: string): Promise<void>
  /** Lays out the training data of a job, as the only file of a folder; the caller removes it. */
  dataFolder(data: LaidOutFile): Promise<string>
  /** A folder that does not exist yet, for the engine to write. */
  outputFolder(): Promise<string>
  /** Removes folders that were made for an engine, or written by one, complete or not. */
  removeFolders(folders: readonly string[]): Promise<void>
  /** Where a job keeps its state after each gradient step; it outlives the worker and the server. */
  workFolder(jobId: string): string
  removeWork(jobId: string): Promise<void>
  /** Removes the work folders of all other jobs: a worker may have written after its job had ended. */
  keepWorkOf(findJobs: () => Promise<readonly { id: string }[]>): Promise<void>
  /**
   * Everything but the state of open jobs can be made again, so a start removes it; where other servers may be using
   * the same folders, only what jobs have long done with.
   */
  clear(others: 'none' | 'may-use'): Promise<void>
}

/** The folder with the state of jobs. */
const WORK = 'jobs'

const ADAPTERS = 'adapters'

/** What one attempt at a job uses. */
const OF_JOBS = ['outputs', 'checkpoints', 'data']

/** A job reads its folders until its end, which is this far away at most; a crash leaves them behind. */
const USED_MS_MAX = 60 * 24 * 3_600_000

export function createCheckpointFiles(deps: { contents: Contents; workspace: Workspace }): CheckpointFiles {
  const { contents, workspace } = deps
  const adapters = createHeldFolders(workspace)

  async function layOut(folder: string, manifest: readonly ManifestEntry[]): Promise<string> {
    const files: LaidOutFile[] = []
    for (const { name, digest } of manifest) {
      const blobKey = await contents.blobKeyOf(digest)
      if (blobKey === undefined) throw new Error(`File ${name} (${digest}) of a checkpoint is missing`)
      files.push({ name, blobKey })
    }
    await workspace.materialise(folder, files)
    return folder
  }

  return {
    async store(owner, folder) {
      const manifest: ManifestEntry[] = []
      for await (const { name, bytes } of workspace.collect(folder))
        manifest.push({
          name,
          ...(await contents.add(owner, bytes(), { bytesMax: Number.POSITIVE_INFINITY })),
        })
      return manifest
    },

    checkpointFolder: (manifest) => layOut(`checkpoints/${newId()}`, manifest),

    holdAdapterFolder(files) {
      const folder = adapterFolderOf(files.adapter_digest)
      // A folder under its final name is complete.
      return adapters.hold(folder, () => layOut(folder, adapterPart(files.manifest)))
    },

    removeAdapterFolder: (digest) => adapters.remove(adapterFolderOf(digest)),

    async dataFolder(data) {
      const folder = `data/${newId()}`
      await workspace.materialise(folder, [data])
      return folder
    },

    async outputFolder() {
      const folder = `outputs/${newId()}`
      await workspace.prepare(folder)
      return folder
    },

    async removeFolders(folders) {
      const all = folders.flatMap((folder) => [folder, `${folder}.partial`])
      await Promise.all(all.map((folder) => workspace.remove(folder)))
    },

    workFolder: (jobId) => `${WORK}/${jobId}`,

    removeWork: (jobId) => workspace.remove(`${WORK}/${jobId}`),

    async keepWorkOf(findJobs) {
      // Jobs that begin meanwhile have no folder in this list.
      const all = await workspace.list(WORK)
      const kept = new Set((await findJobs()).map((job) => job.id))
      const others = all.filter((id) => !kept.has(id))
      for (const id of others) await workspace.remove(`${WORK}/${id}`)
    },

    async clear(others) {
      if (others === 'none') {
        for (const kind of [...OF_JOBS, ADAPTERS]) await workspace.remove(kind)
        return
      }
      const before = Date.now() - USED_MS_MAX
      for (const kind of OF_JOBS)
        for (const name of await workspace.listOld(kind, before)) await workspace.remove(`${kind}/${name}`)
    },
  }
}

function adapterFolderOf(digest: string): string {
  return `${ADAPTERS}/${digest}`
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

function digestOfManifest(manifest: readonly ManifestEntry[]): string {
  const hash = createHash('sha256')
  for (const { name, digest } of manifest) hash.update(`${name}\0${digest}\n`)
  return hash.digest('hex')
}
