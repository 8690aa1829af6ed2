import { LRUCache } from 'lru-cache'
import { messageOf } from '../../errors.ts'
import { isUnsent } from '../../stores/compute/port.ts'
import type { Peers } from '../../stores/control-db/peers.ts'

/**
 * A job waits for so long for a trainer whose starts fail: the head of a cluster is back within minutes, and so is a
 * GPU that another program held for a moment. It keeps its turn meanwhile, so that the other jobs of its base model do
 * not fail one after the other.
 */
const FAILING_MS_MAX = 15 * 60_000

/**
 * The same where neither this server nor the job has had a trainer yet: most often the set-up is wrong, which is to be
 * said soon.
 */
const FIRST_FAILING_MS_MAX = 60_000

/**
 * A server that could not start a trainer leaves jobs to other servers for so long: a job would otherwise be back at
 * the same one before any other has seen it.
 */
const LEFT_TO_OTHERS_MS = 30_000

/** Base models that are remembered; more do not run at once. */
const BASE_MODELS_MAX = 100

/** Another server may have a trainer where this one cannot start one; the job waits for it. */
export class PassedOn extends Error {}

/** How jobs meet a trainer that cannot be started. */
export interface TrainerStarts {
  /** Whether this server leaves jobs to others for now. */
  isPaused(): boolean
  /**
   * Runs an attempt at a job.
   * @param of.isBegun whether the job has had an attempt before
   * @param run gets the time, in milliseconds, for which it waits for a trainer whose starts fail
   * @throws PassedOn; what the job throws
   */
  attempt<Result>(
    of: { baseModel: string; isBegun: boolean },
    run: (failingMs: number) => Promise<Result>,
  ): Promise<Result>
}

/** Where there may be other servers, each passes on one job before the next one of the base model waits there. */
export function createTrainerStarts(peers: Pick<Peers, 'arePossible'>): TrainerStarts {
  let leftToOthersUntil = 0
  const passedOn = new LRUCache<string, true>({ max: BASE_MODELS_MAX })
  const worked = new LRUCache<string, true>({ max: BASE_MODELS_MAX })

  return {
    isPaused: () => performance.now() < leftToOthersUntil,
    async attempt({ baseModel, isBegun }, run) {
      const failingMs = isBegun || worked.has(baseModel) ? FAILING_MS_MAX : FIRST_FAILING_MS_MAX
      const mayPassOn = peers.arePossible && !passedOn.has(baseModel)
      try {
        const result = await run(mayPassOn ? 0 : failingMs)
        passedOn.delete(baseModel)
        worked.set(baseModel, true)
        return result
      } catch (error) {
        if (!peers.arePossible || !isUnsent(error)) throw error
        leftToOthersUntil = performance.now() + LEFT_TO_OTHERS_MS
        passedOn.set(baseModel, true)
        throw mayPassOn ? new PassedOn(messageOf(error), { cause: error }) : error
      }
    },
  }
}
