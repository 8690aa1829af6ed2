import { spent } from '../../errors.ts'
import type { CountedBytes } from '../../http/caller-limits.ts'
import type { Log } from '../../log.ts'
import { repeatedFromNow } from '../../repeated.ts'
import type { SharedUse } from '../../shared-use.ts'
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
  /** Measures an entity that has got a limit. */
  measure(entity: string): Promise<void>
  /**
   * After limits were read again: measures entities that have got one, perhaps by another server, and forgets those
   * without.
   */
  limitsRead(): Promise<void>
  start(): AsyncDisposable
}

/** What one entity stores. */
interface Use {
  /** By the last measurement. */
  measured: number
  /** Bytes that have ever been counted, and how many of them before the last measurement began. */
  counted: number
  countedBefore: number
  /** Those that other servers have counted since the last measurement. */
  elsewhere: number
  /** Another number after each measurement; 0 before the first one. */
  round: number
}

export function createStorageUse(deps: {
  book: LimitBook
  /** What other servers store counts as well. */
  sharedUse: Pick<SharedUse, 'counter'>
  log: Log
  /** Of each part; known when all are composed. */
  measures: () => readonly MeasureStorage[]
}): StorageUse {
  const { book, sharedUse, log, measures } = deps
  const uses = new Map<string, Use>()
  let rounds = 0

  const limitOf = (entity: string): number | undefined => book.of('entity', entity).storage_bytes

  function entryOf(entity: string): Use {
    const use = uses.get(entity) ?? { measured: 0, counted: 0, countedBefore: 0, elsewhere: 0, round: 0 }
    uses.set(entity, use)
    return use
  }

  const tellOthers = sharedUse.counter('storage', (entity, bytes) => {
    if (limitOf(entity) === undefined) return
    const use = entryOf(entity)
    // What is taken back may have been counted before the last measurement, which has left it out.
    const change = Math.max(bytes, -use.elsewhere)
    use.elsewhere += change
    use.counted += change
  })

  async function measure(entity: string): Promise<void> {
    const use = entryOf(entity)
    const countedBefore = use.counted
    const parts = await Promise.all(measures().map((part) => part(entity)))
    // What arrived meanwhile may have been measured too; it is counted twice rather than not at all.
    const measured = parts.reduce((sum, bytes) => sum + bytes, 0)
    Object.assign(use, { measured, countedBefore, elsewhere: 0, round: ++rounds })
  }

  function add(entity: string, bytes: number): void {
    const limit = limitOf(entity)
    if (limit === undefined) return
    const use = entryOf(entity)
    const before = storedBy(use)
    if (before + bytes > limit)
      throw spent(
        `${entity} stores ${before} bytes, and its limit of storage_bytes is ${limit}: delete data, or ask an operator for more`,
        MEASURE_MS / 1000,
      )
    use.counted += bytes
    tellOthers(entity, bytes)
  }

  function upload(entity: string): CountedBytes {
    const counted = { bytes: 0, round: uses.get(entity)?.round }
    return {
      add(bytes) {
        add(entity, bytes)
        const round = uses.get(entity)?.round
        // A measurement has left out what was counted before it.
        if (round !== counted.round) Object.assign(counted, { bytes: 0, round })
        counted.bytes += bytes
      },
      takeBack() {
        const use = uses.get(entity)
        if (use === undefined || use.round !== counted.round) return
        use.counted -= counted.bytes
        tellOthers(entity, -counted.bytes)
      },
    }
  }

  /** Entities with a limit; all others are forgotten. */
  function limited(): string[] {
    for (const entity of uses.keys()) if (limitOf(entity) === undefined) uses.delete(entity)
    return book.entitiesWith('storage_bytes')
  }

  async function limitsRead(): Promise<void> {
    for (const entity of limited()) if (entryOf(entity).round === 0) await measure(entity)
  }

  async function measureAll(): Promise<void> {
    for (const entity of limited())
      await measure(entity).catch((error: unknown) =>
        log.warn({ err: error, entity }, 'storage was not measured'),
      )
  }

  return {
    usedBy(entity) {
      const use = limitOf(entity) === undefined ? undefined : uses.get(entity)
      return use === undefined || use.round === 0 ? undefined : storedBy(use)
    },

    add,
    upload,
    measure,
    limitsRead,

    start: () => repeatedFromNow(MEASURE_MS, measureAll),
  }
}

function storedBy({ measured, counted, countedBefore }: Use): number {
  return measured + counted - countedBefore
}
