import { LRUCache } from 'lru-cache'
import { placeOf } from '../../access.ts'
import { tooManyRequests } from '../../errors.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import { type KnownMonitor, objectOf } from './active-monitors.ts'
import type { ScoringTask } from './scoring-task.ts'

/** Scores of an entity that have not ended, some 500 MB. */
const OF_ENTITY_MAX = 1_000_000

/** Those of a monitor: one whose judge is slow leaves room for other monitors, and for requests. */
const OF_MONITOR_MAX = 100_000

/**
 * Counts from here on are remembered for a while for monitors, which look all the time: to count a million rows takes a
 * second, in which nothing else is answered, and their limit need not be exact.
 */
const REMEMBERED_FROM = 10_000
const REMEMBERED_MS = 30_000

/** Entities and monitors with so many scores. */
const REMEMBERED_MAX = 1_000

/** Scores of one monitor that have not ended. */
export interface WaitingScores {
  count: number
  /** Why the monitor skips calls; undefined where it does not. */
  problem: string | undefined
}

type Monitor = Pick<KnownMonitor, 'ref'>

/** Limits of the scores that wait, by entity: one that has too many does not stop others. */
export interface WaitingLimits {
  /** @throws 429 where as many scores of the project's entity wait as may. */
  check(projectId: string): Promise<void>
  /** Of all versions of each of the monitors of a project. */
  ofMonitors(projectId: string, monitors: readonly Monitor[]): Promise<(monitor: Monitor) => WaitingScores>
}

export function createWaitingLimits(
  jobs: Pick<JobsOfKind<ScoringTask>, 'countOpenBy' | 'countOpenOf'>,
): WaitingLimits {
  const large = new LRUCache<string, number>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })

  function remember(name: string, count: number): number {
    if (count >= REMEMBERED_FROM) large.set(name, count)
    return count
  }

  async function countOfEntity(entity: string): Promise<number> {
    return large.get(entity) ?? remember(entity, await jobs.countOpenBy('entity', entity))
  }

  async function countsOf(names: readonly string[]): Promise<Map<string, number>> {
    const counted = await jobs.countOpenOf(names.filter((name) => large.get(name) === undefined))
    return new Map(names.map((name) => [name, large.get(name) ?? remember(name, counted.get(name) ?? 0)]))
  }

  return {
    async check(projectId) {
      const { entity } = placeOf(projectId)
      const problem = problemOf(entity, await jobs.countOpenBy('entity', entity))
      if (problem !== undefined) throw tooManyRequests(problem, 60)
    },

    async ofMonitors(projectId, monitors) {
      const counts = await countsOf(monitors.map(objectOf))
      const { entity } = placeOf(projectId)
      const ofAll = problemOf(entity, await countOfEntity(entity))
      return (monitor) => {
        const count = counts.get(objectOf(monitor)) ?? 0
        const own =
          count >= OF_MONITOR_MAX ? `${OF_MONITOR_MAX} scores of the monitor are waiting already` : undefined
        const why = own ?? ofAll
        return { count, problem: why && `New calls are skipped: ${why}` }
      }
    },
  }
}

function problemOf(entity: string, count: number): string | undefined {
  return count >= OF_ENTITY_MAX ? `${OF_ENTITY_MAX} scores of ${entity} are waiting already` : undefined
}
