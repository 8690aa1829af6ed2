import { setInterval as every } from 'node:timers/promises'
import type { Log } from './log.ts'
import type { Blobs } from './stores/blobs/port.ts'

/**
 * Bytes are on disk before the row that owns them, and the row goes before the bytes do: a crash in between leaves a
 * blob that no row owns. One younger than this may still get its row, since a request may take hours to send its body.
 */
const AGE_MS_MIN = 24 * 3_600_000

const SWEEP_EVERY_MS = 6 * 3_600_000

/** Keys whose owners are read in one statement. */
const KEYS_PER_BATCH = 500

/** Who owns the blobs below a prefix. Blobs below other prefixes are left alone. */
export interface BlobOwner {
  prefix: string
  /** Those of the keys that have an owner. */
  ownedOf(keys: readonly string[]): Promise<ReadonlySet<string>>
}

/** Blobs without an owner that were deleted since the start, and sweeps that failed. */
export interface SweepCounts {
  deleted: number
  failed: number
}

/** Deletes blobs that no row owns, at the start and every few hours. */
export interface BlobSweep {
  counts(): Readonly<SweepCounts>
  /** Checks all blobs once. A failure is logged and counted, and the next sweep tries again. */
  sweep(signal: AbortSignal): Promise<void>
  /** Sweeps now and from time to time, until disposal. */
  start(): AsyncDisposable
}

export function createBlobSweep(deps: { blobs: Blobs; owners: readonly BlobOwner[]; log: Log }): BlobSweep {
  const { blobs, owners, log } = deps
  const counts: SweepCounts = { deleted: 0, failed: 0 }

  async function sweepOf(owner: BlobOwner, before: number, signal: AbortSignal): Promise<void> {
    let old: { key: string; modifiedAt: number }[] = []
    const deleteUnowned = async (): Promise<void> => {
      const owned = await owner.ownedOf(old.map(({ key }) => key))
      for (const { key, modifiedAt } of old.filter((blob) => !owned.has(blob.key))) {
        // A blob that was put again meanwhile is about to get its row.
        if (!(await blobs.deleteUnchanged(key, modifiedAt))) continue
        counts.deleted++
        log.warn({ key }, 'a blob that nothing owned was deleted')
      }
      old = []
    }
    for await (const blob of blobs.list(owner.prefix)) {
      if (signal.aborted) return
      if (blob.modifiedAt < before) old.push(blob)
      if (old.length >= KEYS_PER_BATCH) await deleteUnowned()
    }
    if (old.length > 0) await deleteUnowned()
  }

  async function sweep(signal: AbortSignal): Promise<void> {
    for (const owner of owners) {
      try {
        await sweepOf(owner, Date.now() - AGE_MS_MIN, signal)
      } catch (error) {
        counts.failed++
        log.error({ err: error, prefix: owner.prefix }, 'blobs without an owner could not be looked for')
      }
    }
  }

  function start(): AsyncDisposable {
    const stopping = new AbortController()
    const { signal } = stopping
    const work = (async () => {
      await sweep(signal)
      for await (const _ of every(SWEEP_EVERY_MS, undefined, { signal, ref: false })) await sweep(signal)
    })().catch(() => {})
    return {
      async [Symbol.asyncDispose]() {
        stopping.abort()
        await work
      },
    }
  }

  return { counts: () => counts, sweep, start }
}
