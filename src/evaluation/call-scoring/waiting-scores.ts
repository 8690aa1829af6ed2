import { placeOf } from '../../access.ts'
import { tooManyRequests } from '../../errors.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import type { ScoringTask } from './scoring-task.ts'

/** Scores of an entity that have not ended, some 500 MB. */
const OF_ENTITY_MAX = 1_000_000

/** Those of a monitor: one whose judge is slow leaves room for other monitors, and for requests. */
const OF_MONITOR_MAX = 100_000

/** Scores of one monitor that have not ended. */
export interface WaitingScores {
  count: number
  /** Why the monitor skips calls; undefined where it does not. */
  problem: string | undefined
}

/** Limits of the scores that wait, by entity: one that has too many does not stop others. */
export interface WaitingLimits {
  /** @throws 429 where as many scores of the project's entity wait as may. */
  check(projectId: string): Promise<void>
  /** Of the monitors of a project, by the refs of their versions. */
  ofMonitors(projectId: string, refs: readonly string[]): Promise<(ref: string) => WaitingScores>
}

export function createWaitingLimits(
  jobs: Pick<JobsOfKind<ScoringTask>, 'countOpenBy' | 'countOpenOf'>,
): WaitingLimits {
  async function problemOfEntity(projectId: string): Promise<string | undefined> {
    const { entity } = placeOf(projectId)
    const isFull = (await jobs.countOpenBy('entity', entity)) >= OF_ENTITY_MAX
    return isFull ? `${OF_ENTITY_MAX} scores of ${entity} are waiting already` : undefined
  }

  return {
    async check(projectId) {
      const problem = await problemOfEntity(projectId)
      if (problem !== undefined) throw tooManyRequests(problem, 60)
    },

    async ofMonitors(projectId, refs) {
      const counts = await jobs.countOpenOf(refs)
      const ofAll = await problemOfEntity(projectId)
      return (ref) => {
        const count = counts.get(ref) ?? 0
        const own =
          count >= OF_MONITOR_MAX ? `${OF_MONITOR_MAX} scores of the monitor are waiting already` : undefined
        const why = own ?? ofAll
        return { count, problem: why && `New calls are skipped: ${why}` }
      }
    },
  }
}
