import { lstat, opendir, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { z } from 'zod'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import * as queries from './queries.ts'
import type { DiskRes } from './wire.ts'

type Disk = z.input<typeof DiskRes>

/** Files and folders that one measurement looks at: a second or two of work on the slowest disks. */
const ENTRIES_MAX = 50_000

/** A measurement is reused for this long, and for this many times the time that it took. */
const STANDS_MS = 10_000
const STANDS_TIMES = 20

/** Entries that are read of a folder at a time. */
const ENTRIES_AT_ONCE = 256

export interface DiskDeps {
  traces: TraceDb
  control: ControlDb
  dataFolder: string
  /** The workspace folder, in the data folder or elsewhere. */
  engineFolder: string
  logsFolder: string
}

/** Measures the data folder: databases by what they say of themselves, everything else by its files. */
export function createDisk(deps: DiskDeps): () => Promise<Disk> {
  let last: { disk: Promise<Disk>; standsUntil: number } | undefined
  return () => {
    if (last !== undefined && performance.now() < last.standsUntil) return last.disk
    const started = performance.now()
    // Concurrent requests share one measurement.
    const current = { disk: measure(deps), standsUntil: Number.POSITIVE_INFINITY }
    last = current
    current.disk.then(
      () => {
        const took = performance.now() - started
        current.standsUntil = performance.now() + Math.max(STANDS_MS, took * STANDS_TIMES)
      },
      () => {
        current.standsUntil = 0
      },
    )
    return current.disk
  }
}

async function measure({ traces, control, dataFolder, engineFolder, logsFolder }: DiskDeps): Promise<Disk> {
  const { bsize, blocks, bavail } = await statfs(dataFolder)
  const walk = { left: ENTRIES_MAX, device: (await lstat(dataFolder)).dev }
  const at = (name: string) => join(dataFolder, name)
  const owned = await queries.contentBytes(control)
  const controlFiles = ['control.sqlite', 'control.sqlite-wal', 'control.sqlite-shm'].map(at)
  const own = [at('trace-db'), at('blobs'), engineFolder, logsFolder, ...controlFiles]
  const parts: Disk['parts'] = [
    {
      name: 'trace_db',
      bytes: (await firstOf<{ bytes: number }>(traces.query(queries.traceBytes())))?.bytes ?? 0,
    },
    { name: 'control_db', bytes: await bytesOf(controlFiles, walk) },
    { name: 'checkpoints', bytes: owned.checkpoints },
    { name: 'artifacts', bytes: owned.all - owned.checkpoints },
    { name: 'files', bytes: await bytesOf([at('blobs')], walk, [at('blobs/contents')]) },
    { name: 'engine', bytes: await bytesOf([engineFolder], walk, [logsFolder]) },
    { name: 'logs', bytes: await bytesOf([logsFolder], walk) },
    { name: 'other', bytes: await bytesOf([dataFolder], walk, own) },
  ]
  return {
    data_folder: dataFolder,
    parts,
    volume: { total_bytes: blocks * bsize, free_bytes: bavail * bsize },
    complete: walk.left > 0,
    measured_at: nowIso(),
  }
}

interface Walk {
  /** Entries that may still be read. */
  left: number
  /** Another volume takes no space of this one. */
  device: number
}

/** Bytes of files and of everything below folders; 0 for what does not exist. */
async function bytesOf(
  paths: readonly string[],
  walk: Walk,
  except: readonly string[] = [],
): Promise<number> {
  const left = [...paths]
  let bytes = 0
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (walk.left === 0) break
    walk.left--
    // A file that was removed meanwhile counts as gone.
    const found = await lstat(path).catch(() => undefined)
    if (found === undefined || found.dev !== walk.device) continue
    if (!found.isDirectory()) {
      // A hard link to a blob takes no space of its own.
      bytes += found.nlink > 1 ? 0 : found.size
      continue
    }
    left.push(...(await entriesOf(path, walk.left)).filter((entry) => !except.includes(resolve(entry))))
  }
  return bytes
}

async function entriesOf(folder: string, entriesMax: number): Promise<string[]> {
  const entries: string[] = []
  try {
    for await (const { name } of await opendir(folder, { bufferSize: ENTRIES_AT_ONCE })) {
      if (entries.push(join(folder, name)) >= entriesMax) break
    }
  } catch {
    // Removed while it was read.
  }
  return entries
}
