import pMap from 'p-map'
import { StoreFailed } from '../../errors.ts'
import { isTemporary } from '../retry.ts'

/** Rows worked on at once; each waits for its model most of the time. */
const ROWS_AT_ONCE = 16

/** What may end work on rows before the last one. */
export interface TrialSignals {
  /** Aborts the rows in progress. */
  signal: AbortSignal
  /** Once aborted, no further row is begun. */
  turn: AbortSignal
  /** Aborted with the first error, so that the other rows in progress end. */
  failed: AbortController
}

/**
 * Works on rows, some at once. A row that fails for now is left for a later attempt, and the others go on, unless so
 * many fail one after the other that what they need must be away. Any other error aborts the rows in progress, and is
 * thrown once they have ended: the next attempt would evaluate those that go on a second time. At the end of the turn
 * they are finished, for the same reason.
 * @throws that error; the reasons of `signal` and `turn`; the first error of a row that was left
 */
export async function workOnAll<Trial>(
  trials: AsyncIterable<Trial>,
  evaluate: (trial: Trial) => Promise<void>,
  { signal, turn, failed }: TrialSignals,
): Promise<void> {
  let left: { error: unknown } | undefined
  let leftInARow = 0
  let isAnyDone = false
  let isCutShort = false
  async function* untilEnded(): AsyncGenerator<Trial> {
    try {
      for await (const trial of trials) {
        isCutShort = turn.aborted
        if (isCutShort || failed.signal.aborted || leftInARow >= ROWS_AT_ONCE) return
        yield trial
      }
    } catch (error) {
      failed.abort(error)
    }
  }
  async function work(trial: Trial): Promise<void> {
    try {
      await evaluate(trial)
      leftInARow = 0
      isAnyDone = true
    } catch (error) {
      leftInARow++
      if (isTemporary(error) && !(error instanceof StoreFailed)) left ??= { error }
      else failed.abort(error)
    }
  }
  await pMap(untilEnded(), work, { concurrency: ROWS_AT_ONCE, signal })
  failed.signal.throwIfAborted()
  // An attempt that came to nothing counts as one that failed, not as a turn.
  if (isCutShort && (isAnyDone || left === undefined)) throw turn.reason
  if (left !== undefined) throw left.error
}
