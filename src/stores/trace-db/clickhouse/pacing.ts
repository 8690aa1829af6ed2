import { entityOf, type OwnerLines } from '../../../owner-lines.ts'
import type { ActiveOwners } from './active-owners.ts'
import type { Pauses } from './pauses.ts'

/**
 * How long a flood pauses beside an owner who waits for each answer: as many times as long as the work before, so that the
 * flood uses the processors for a quarter of the time. Floods among themselves share the processors by their turns.
 */
const PAUSE_BESIDE_QUIET = 3
const PAUSE_BESIDE_FLOODS = 1

/** Shorter work needs no pause: others get the processors soon enough, and timers are not more exact. */
const WORK_MS_MIN = 2

export interface PacingDeps {
  lines: Pick<OwnerLines<unknown>, 'weight' | 'weightOfEntity'>
  active: Pick<ActiveOwners, 'names' | 'entities'>
  pauses: Pauses
  /** Called when a pause is over. */
  onEnd: () => void
}

/**
 * Pauses of owners that have more work waiting while others are active. All threads of the database have the same priority:
 * without pauses, small work of other owners would take several times as long. Beside other entities the whole entity
 * pauses, so that a flood of many owners is slowed down like that of one.
 */
export interface Pacing {
  /** Whether an owner, or its entity, has more waiting while others are active. */
  isFlood(owner: string): boolean
  /** Pauses a flood after work of an owner that took this many milliseconds. */
  worked(owner: string, workMs: number): void
  isPaused(owner: string): boolean
}

export function createPacing({ lines, active, pauses, onEnd }: PacingDeps): Pacing {
  pauses.onEnd(onEnd)

  /** What floods, the entity or the owner, and how long it pauses for each millisecond of work. */
  function floodOf(owner: string): { name: string; pause: number } | undefined {
    const entity = entityOf(owner)
    const otherEntities = [...active.entities()].filter((other) => other !== entity)
    if (otherEntities.length > 0 && lines.weightOfEntity(owner) > 0) {
      const isAnyQuiet = otherEntities.some((other) => lines.weightOfEntity(other) === 0)
      return { name: entity, pause: isAnyQuiet ? PAUSE_BESIDE_QUIET : PAUSE_BESIDE_FLOODS }
    }
    const others = [...active.names()].filter((other) => other !== owner)
    if (others.length === 0 || lines.weight(owner) === 0) return undefined
    const isAnyQuiet = others.some((other) => lines.weight(other) === 0)
    return { name: owner, pause: isAnyQuiet ? PAUSE_BESIDE_QUIET : PAUSE_BESIDE_FLOODS }
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
