import { LRUCache } from 'lru-cache'
import { ClientError } from '../../errors.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { isTemporary } from '../retry.ts'
import { type LoadingDeps, loadScorer } from '../scorers/load-scorer.ts'

/** How long an outcome is kept at most: files, aliases and what other servers change are not heard of. */
const KEPT_MS = 30_000

/** Projects whose outcomes are kept; each has as many as it has scorers in monitors, at some 200 bytes. */
const PROJECTS_MAX = 1000

/** Whether scorers can be loaded, which is asked for every few seconds while a page shows the monitors of a project. */
export interface ScorerChecks {
  /** @throws as `loadScorer` */
  check(projectId: string, ref: string): Promise<void>
}

/** Loads each scorer once, however many ask, until an object of its project changes. What may pass is not kept. */
export function createScorerChecks(
  deps: LoadingDeps & { objects: Pick<Objects, 'watchChanges'> },
): ScorerChecks {
  const projects = new LRUCache<string, Map<string, Promise<ClientError | undefined>>>({
    max: PROJECTS_MAX,
    ttl: KEPT_MS,
  })
  deps.objects.watchChanges(({ project_id }) => void projects.delete(project_id))

  function outcomesOf(projectId: string): Map<string, Promise<ClientError | undefined>> {
    const known = projects.get(projectId)
    if (known !== undefined) return known
    const outcomes = new Map()
    projects.set(projectId, outcomes)
    return outcomes
  }

  async function check(projectId: string, ref: string): Promise<void> {
    const outcomes = outcomesOf(projectId)
    const outcome = outcomes.get(ref) ?? lastingOutcome(() => loadScorer(deps, { ref, projectId }))
    outcomes.set(ref, outcome)
    const refusal = await outcome.catch((error: unknown) => {
      outcomes.delete(ref)
      throw error
    })
    if (refusal !== undefined) throw refusal
  }

  return { check }
}

/** Resolves with the reason for which work can never succeed. @throws other reasons */
async function lastingOutcome(work: () => Promise<unknown>): Promise<ClientError | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof ClientError && !isTemporary(error)) return error
    throw error
  }
}
