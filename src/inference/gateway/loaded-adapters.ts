import { dependencyFailed } from '../../errors.ts'
import type { InferenceProcess } from '../../stores/compute/port.ts'
import type { CheckpointFiles, StoredFiles } from '../../training/checkpoint-files/checkpoint-files.ts'
import type { HeldFolder } from '../../training/checkpoint-files/held-folders.ts'
import { readText } from './engine-reply.ts'

/** Adapters that one server lists at a time; the engine itself keeps fewer in memory and reads others from disk. */
const LISTED_MAX = 64

/** Loading reads a few MB; longer than this it hangs. */
const LOAD_MS_MAX = 60_000

interface Loaded {
  /** Undefined when the process has lost it. */
  ready: Promise<void> | undefined
  users: number
}

/** An adapter that stays loaded until it is released. */
export interface AdapterUse {
  /** What the engine calls it: the digest of its content. */
  name: string
  release(): void
}

/** Loads adapters into inference servers on demand, each under the digest of its content, and never twice. */
export interface LoadedAdapters {
  /** @throws 503 when the engine does not take the adapter. */
  use(process: InferenceProcess, adapter: StoredFiles): Promise<AdapterUse>
  /** The digests that a process has loaded or is loading. */
  digestsIn(process: InferenceProcess): string[]
  /** The process has lost this adapter; the next use loads it again. */
  forget(process: InferenceProcess, use: AdapterUse): void
}

export function createLoadedAdapters({
  files,
}: {
  files: Pick<CheckpointFiles, 'holdAdapterFolder'>
}): LoadedAdapters {
  // Keyed by process, then by digest: what was loaded into a process ends with it. The least recently used comes first.
  const loadedByProcess = new WeakMap<InferenceProcess, Map<string, Loaded>>()

  async function load(process: InferenceProcess, name: string, folder: HeldFolder): Promise<void> {
    await folder.ensure()
    const lora_path = process.pathOf(folder.name)
    const { status, text } = await post(process, '/v1/load_lora_adapter', { lora_name: name, lora_path })
    // Names are digests, so an adapter that was loaded under this name by an abandoned request is the same one.
    if (status !== 200 && !text.includes('already been loaded'))
      throw dependencyFailed('The adapter could not be loaded', new Error(text))
  }

  /** An adapter that could not be unloaded stays listed, and the next load tries again. */
  async function unloadLeastUsed(process: InferenceProcess, loaded: Map<string, Loaded>): Promise<void> {
    for (const [name, entry] of loaded) {
      if (loaded.size <= LISTED_MAX) return
      if (entry.users > 0) continue
      entry.ready = undefined
      const { status, text } = await post(process, '/v1/unload_lora_adapter', { lora_name: name })
      if (status !== 200 && status !== 404)
        throw dependencyFailed('An adapter could not be unloaded', new Error(text))
      if (loaded.get(name)?.ready === undefined) loaded.delete(name)
    }
  }

  /** Resolves once the process has the adapter; the returned function ends its use there. */
  async function loadedIn(
    process: InferenceProcess,
    digest: string,
    folder: HeldFolder,
  ): Promise<() => void> {
    const loaded = loadedByProcess.get(process) ?? new Map<string, Loaded>()
    loadedByProcess.set(process, loaded)
    const entry: Loaded = loaded.get(digest) ?? { ready: undefined, users: 0 }
    entry.ready ??= load(process, digest, folder)
    loaded.delete(digest)
    loaded.set(digest, entry)
    entry.users++
    try {
      await entry.ready
    } catch (error) {
      entry.users--
      if (loaded.get(digest) === entry) loaded.delete(digest)
      throw error
    }
    // One adapter too many costs the engine little.
    await unloadLeastUsed(process, loaded).catch(() => {})
    return () => void entry.users--
  }

  async function use(process: InferenceProcess, adapter: StoredFiles): Promise<AdapterUse> {
    const name = adapter.adapter_digest
    // Also where the process has the adapter: it keeps few in memory, and ends when the files of one that it lists are
    // gone.
    const folder = await files.holdAdapterFolder(adapter)
    try {
      const leave = await loadedIn(process, name, folder)
      let isHeld = true
      return {
        name,
        release() {
          if (!isHeld) return
          isHeld = false
          leave()
          folder.release()
        },
      }
    } catch (error) {
      folder.release()
      throw error
    }
  }

  function forget(process: InferenceProcess, { name }: AdapterUse): void {
    const entry = loadedByProcess.get(process)?.get(name)
    if (entry !== undefined) entry.ready = undefined
  }

  return { use, digestsIn: (process) => [...(loadedByProcess.get(process)?.keys() ?? [])], forget }
}

/** @throws 503 when the process does not answer in time */
async function post(
  process: InferenceProcess,
  path: string,
  body: object,
): Promise<{ status: number; text: string }> {
  const inTime = AbortSignal.timeout(LOAD_MS_MAX)
  try {
    const reply = await process.post(path, JSON.stringify(body), inTime)
    return { status: reply.status, text: await readText(reply) }
  } catch (error) {
    throw inTime.aborted
      ? dependencyFailed('The engine did not answer about an adapter in time', error)
      : error
  }
}
