import { entityOf, type OwnerLines } from '../../../owner-lines.ts'
import type { ActiveOwners } from './active-owners.ts'

/** A pause is no longer than this, however long the work before it took. */
const PAUSE_MS_MAX = 250

/** Shorter work needs no pause: others get the processors soon enough, and timers are not more exact. */
const WORK_MS_MIN = 2

export interface PacingDeps {
  lines: Pick<OwnerLines<unknown>, 'weight' | 'weightOfEntity'>
  active: Pick<ActiveOwners, 'count' | 'countEntities'>
  /** Called when a pause is over. */
  onEnd: () => void
}

/**
 * Pauses of owners that have more work waiting while others are active. A pause is as long as the piece of work before
 * it, so a flood uses the processors for half of the time: all threads of the database have the same priority, and
 * without pauses small work of other owners would take several times as long. Beside other entities the whole entity
 * pauses, so that a flood of many owners is slowed down like that of one.
 */
export interface Pacing {
  /** Whether an owner, or its entity, has more waiting while others are active. */
  isFlood(owner: string): boolean
  /** Pauses a flood after work of an owner that took this many milliseconds. */
  worked(owner: string, workMs: number): void
  isPaused(owner: string): boolean
}

export function createPacing({ lines, active, onEnd }: PacingDeps): Pacing {
  /** Owners and entities. */
  const paused = new Set<string>()

  /** The entity or the owner that floods. */
  function floodOf(owner: string): string | undefined {
    if (active.countEntities() > 1 && lines.weightOfEntity(owner) > 0) return entityOf(owner)
    return active.count() > 1 && lines.weight(owner) > 0 ? owner : undefined
  }

  return {
    isFlood: (owner) => floodOf(owner) !== undefined,
    worked(owner, workMs) {
      const flood = floodOf(owner)
      if (flood === undefined || workMs < WORK_MS_MIN || paused.has(flood)) return
      paused.add(flood)
      const end = (): void => {
        paused.delete(flood)
        onEnd()
      }
      setTimeout(end, Math.min(workMs, PAUSE_MS_MAX))
    },
    isPaused: (owner) => paused.has(owner) || paused.has(entityOf(owner)),
  }
}
