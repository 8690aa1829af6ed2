import { spent } from '../../errors.ts'
import type { CountedBytes } from '../../http/caller-limits.ts'
import type { Log } from '../../log.ts'
import { repeatedFromNow } from '../../repeated.ts'
import type { LimitBook } from './limit-book.ts'

/** Bytes that an entity stores in one part of the product. */
export type MeasureStorage = (entity: string) => Promise<number>

/**
 * How long bytes are counted as they arrive until they are measured again, which reads a few columns of what an entity
 * stores: long enough to cost little, and short enough that what is deleted is soon free.
 */
const MEASURE_MS = 600_000

/** What entities with a limit store: measured now and then, and in between counted as it arrives. */
export interface StorageUse {
  /** Bytes; undefined for an entity without a limit, and before its first measurement. */
  usedBy(entity: string): number | undefined
  /** Counts bytes that are about to be stored. @throws 402 where they do not fit */
  add(entity: string, bytes: number): void
  /** Counts those of one upload. */
  upload(entity: string): CountedBytes
  /** Measures an entity that has got a limit, and forgets one that has none any more. */
  limitsChanged(entity: string): Promise<void>
  start(): AsyncDisposable
}

export function createStorageUse(deps: {
  book: LimitBook
  log: Log
  /** Of each part; known when all are composed. */
  measures: () => readonly MeasureStorage[]
}): StorageUse {
  const { book, log, measures } = deps
  const used = new Map<string, number>()
  /** How often each was measured. */
  const rounds = new Map<string, number>()

  const limitOf = (entity: string): number | undefined => book.of('entity', entity).storage_bytes

  async function measure(entity: string): Promise<void> {
    const before = used.get(entity) ?? 0
    const parts = await Promise.all(measures().map((part) => part(entity)))
    // The limit was removed meanwhile.
    if (limitOf(entity) === undefined) return
    const arrived = Math.max(0, (used.get(entity) ?? 0) - before)
    // What arrived meanwhile may have been measured too; it is counted twice rather than not at all.
    used.set(entity, parts.reduce((sum, bytes) => sum + bytes, 0) + arrived)
    rounds.set(entity, (rounds.get(entity) ?? 0) + 1)
  }

  function add(entity: string, bytes: number): void {
    const limit = limitOf(entity)
    if (limit === undefined) return
    const before = used.get(entity) ?? 0
    if (before + bytes > limit)
      throw spent(
        `${entity} stores ${before} bytes, and its limit of storage_bytes is ${limit}: delete data, or ask an operator for more`,
        MEASURE_MS / 1000,
      )
    used.set(entity, before + bytes)
  }

  function upload(entity: string): CountedBytes {
    const counted = { bytes: 0, round: rounds.get(entity) }
    return {
      add(bytes) {
        add(entity, bytes)
        const round = rounds.get(entity)
        // A measurement has left out what was counted before it.
        if (round !== counted.round) Object.assign(counted, { bytes: 0, round })
        counted.bytes += bytes
      },
      takeBack() {
        const now = used.get(entity)
        if (now !== undefined && counted.round === rounds.get(entity))
          used.set(entity, Math.max(0, now - counted.bytes))
      },
    }
  }

  async function limitsChanged(entity: string): Promise<void> {
    if (limitOf(entity) === undefined) used.delete(entity)
    else await measure(entity)
  }

  async function measureAll(): Promise<void> {
    for (const entity of book.entitiesWith('storage_bytes'))
      await measure(entity).catch((error: unknown) =>
        log.warn({ err: error, entity }, 'storage was not measured'),
      )
  }

  return {
    usedBy: (entity) => used.get(entity),

    add,
    upload,
    limitsChanged,

    start: () => repeatedFromNow(MEASURE_MS, measureAll),
  }
}
