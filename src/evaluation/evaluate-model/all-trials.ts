import pMap from 'p-map'

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
 * Works on rows, some at once. The first error aborts the others, and is thrown once they have ended: the next attempt would
 * evaluate those that go on a second time. At the end of the turn the rows in progress are finished, for the same reason.
 * @throws the first error; the reasons of `signal` and `turn`
 */
export async function workOnAll<Trial>(
  trials: AsyncIterable<Trial>,
  evaluate: (trial: Trial) => Promise<void>,
  { signal, turn, failed }: TrialSignals,
): Promise<void> {
  let isCutShort = false
  async function* untilEnded(): AsyncGenerator<Trial> {
    try {
      for await (const trial of trials) {
        isCutShort = turn.aborted
        if (isCutShort || failed.signal.aborted) return
        yield trial
      }
    } catch (error) {
      failed.abort(error)
    }
  }
  const work = (trial: Trial): Promise<void> => evaluate(trial).catch((error) => failed.abort(error))
  await pMap(untilEnded(), work, { concurrency: ROWS_AT_ONCE, signal })
  failed.signal.throwIfAborted()
  if (isCutShort) throw turn.reason
}
