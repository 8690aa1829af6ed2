import { entityOf, type FairQueue } from '../../../fairness/fair-queue.ts'
import type { ActiveOwners } from './active-owners.ts'
import type { Pauses } from './pauses.ts'

/**
 * How long a flood pauses beside an owner who waits for each answer: as many times as long as the work before, so that
 * the flood uses the processors for a quarter of the time. Floods among themselves share the processors by their turns.
 */
const PAUSE_BESIDE_QUIET = 3
const PAUSE_BESIDE_FLOODS = 1

/** Shorter work needs no pause: others get the processors soon enough, and timers are not more exact. */
const WORK_MS_MIN = 2

export interface PacingDeps {
  queue: Pick<FairQueue<unknown>, 'weight' | 'weightOfEntity'>
  active: Pick<ActiveOwners, 'names' | 'entities'>
  pauses: Pauses
  /** Called when a pause is over. */
  onEnd: () => void
}

/**
 * Pauses of owners that have more work waiting while others are active. All threads of the database have the same
 * priority: without pauses, small work of other owners would take several times as long. Beside other entities the
 * whole entity pauses, so that a flood of many owners is slowed down like that of one.
 */
export interface Pacing {
  /** Whether an owner, or its entity, has more waiting while others are active. */
  isFlood(owner: string): boolean
  /** Pauses a flood after work of an owner that took this many milliseconds. */
  worked(owner: string, workMs: number): void
  isPaused(owner: string): boolean
}

export function createPacing({ queue, active, pauses, onEnd }: PacingDeps): Pacing {
  pauses.onEnd(onEnd)

  /** What floods, the entity or the owner, and how long it pauses for each millisecond of work. */
  function floodOf(owner: string): { name: string; pause: number } | undefined {
    const entity = entityOf(owner)
    return (
      floodBeside(entity, active.entities(), queue.weightOfEntity) ??
      floodBeside(owner, active.names(), queue.weight)
    )
  }

  return {
    isFlood: (owner) => floodOf(owner) !== undefined,
    worked(owner, workMs) {
      const flood = floodOf(owner)
      if (flood !== undefined && workMs >= WORK_MS_MIN) pauses.add(flood.name, flood.pause * workMs)
    },
    isPaused: (owner) => pauses.isPaused(owner) || pauses.isPaused(entityOf(owner)),
  }
}

/** Undefined where nothing of it waits, or no other is active. */
function floodBeside(
  name: string,
  active: Iterable<string>,
  weightOf: (name: string) => number,
): { name: string; pause: number } | undefined {
  if (weightOf(name) === 0) return undefined
  const others = [...active].filter((other) => other !== name)
  if (others.length === 0) return undefined
  const isAnyQuiet = others.some((other) => weightOf(other) === 0)
  return { name, pause: isAnyQuiet ? PAUSE_BESIDE_QUIET : PAUSE_BESIDE_FLOODS }
}
