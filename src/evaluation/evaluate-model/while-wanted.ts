import { setTimeout } from 'node:timers/promises'

/** Between two looks at the call of an evaluation: models are asked for no longer once it is deleted. */
const LOOK_MS = 1000

/** The call of the evaluation was deleted, so its result is not needed. */
export class EvaluationDeleted extends Error {}

/**
 * Runs `work`, and aborts `failed` once `look` throws EvaluationDeleted, which it is called for every second. Other
 * errors of `look` are ignored until the last call.
 * @throws what the work throws, and EvaluationDeleted of a look before and after it
 */
export async function whileWanted(
  look: () => Promise<void>,
  failed: AbortController,
  work: () => Promise<void>,
): Promise<void> {
  await look()
  const ended = new AbortController()
  const looking = lookAgain(look, failed, ended.signal)
  try {
    await work()
  } finally {
    ended.abort()
    await looking
  }
  await look()
}

async function lookAgain(
  look: () => Promise<void>,
  failed: AbortController,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted && !failed.signal.aborted) {
    await setTimeout(LOOK_MS, undefined, { signal: ended }).catch(() => undefined)
    if (ended.aborted) return
    await look().catch((error: unknown) => {
      if (error instanceof EvaluationDeleted) failed.abort(error)
    })
  }
}
