import { entityOf, type FairQueue } from '../../../fairness/fair-queue.ts'
import type { ActiveOwners } from './active-owners.ts'
import type { Pacing } from './pacing.ts'

/**
 * Bytes of encoded rows committed at once: enough to amortise an fsync, and few enough that later writers do not wait
 * for long. One writer's rows are never divided.
 */
const COMMIT_BYTES_MAX = 2 * 1024 * 1024

/** The same while several owners write: each waits for the commit in progress, and for the rows that share its own. */
const SHARED_COMMIT_BYTES_MAX = 512 * 1024

/** Encoded rows of one writer. */
interface Rows {
  owner: string
  rows: Buffer
}

export interface CommitGroupsDeps<Waiting extends Rows> {
  /** Weighed by bytes. */
  queue: FairQueue<Waiting>
  active: Pick<ActiveOwners, 'count' | 'countEntities'>
  pacing: Pick<Pacing, 'isPaused'>
}

/** What may be committed next. */
export interface CommitGroups<Waiting> {
  /**
   * Takes the rows of a group; none where no rows wait that may be written now.
   * @param writing owners whose rows are being written
   * @param isDraining whether pauses no longer count
   */
  take(writing: ReadonlySet<string>, isDraining: boolean): Waiting[]
}

/**
 * Owners take turns in a group. Rows of one owner are written in their order, so the next ones wait for those that are
 * being written. Beside other entities this holds for a whole entity: one that writes to many projects leaves a session
 * to others, whose small writes then wait neither for its rows nor with them.
 */
export function createCommitGroups<Waiting extends Rows>({
  queue,
  active,
  pacing,
}: CommitGroupsDeps<Waiting>): CommitGroups<Waiting> {
  /** In the order of their turns. */
  function ownersToWrite(writing: ReadonlySet<string>, isDraining: boolean): string[] {
    const unitOf = active.countEntities() > 1 ? entityOf : (owner: string): string => owner
    const busy = new Set([...writing].map(unitOf))
    return queue
      .owners()
      .filter((owner) => !busy.has(unitOf(owner)) && (isDraining || !pacing.isPaused(owner)))
  }

  return {
    take(writing, isDraining) {
      const bytesMax = active.count() > 1 ? SHARED_COMMIT_BYTES_MAX : COMMIT_BYTES_MAX
      const entities = Map.groupBy(ownersToWrite(writing, isDraining), entityOf)
      const group: Waiting[] = []
      let bytes = 0
      while (entities.size > 0) {
        for (const [entity, owners] of entities) {
          const owner = owners.shift()
          if (owner === undefined) entities.delete(entity)
          // Rows of no project have an empty owner.
          const next = owner === undefined ? undefined : queue.take(owner)
          if (owner === undefined || next === undefined) continue
          owners.push(owner)
          group.push(next)
          bytes += next.rows.byteLength
          if (bytes >= bytesMax) return group
        }
      }
      return group
    },
  }
}
