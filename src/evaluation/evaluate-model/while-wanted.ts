import { setTimeout } from 'node:timers/promises'
import { ClientError } from '../../errors.ts'

/**
 * Between two checks of an evaluation: models are no longer asked once its call is deleted, or its user or key has lost
 * the right to it.
 */
const CHECK_MS = 1000

/** The call of the evaluation was deleted, so its result is not needed. */
export class EvaluationDeleted extends Error {}

/**
 * Runs `work`, and aborts `failed` once `check`, which is called before, after and every second, throws
 * EvaluationDeleted or a 403. Its other errors are ignored while the work runs.
 * @throws what the work throws, and what a check before or after it throws
 */
export async function whileWanted(
  check: () => Promise<void>,
  failed: AbortController,
  work: () => Promise<void>,
): Promise<void> {
  await check()
  const ended = new AbortController()
  const checking = checkAgain(check, failed, ended.signal)
  try {
    await work()
  } finally {
    ended.abort()
    await checking
  }
  await check()
}

async function checkAgain(
  check: () => Promise<void>,
  failed: AbortController,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted && !failed.signal.aborted) {
    await setTimeout(CHECK_MS, undefined, { signal: ended }).catch(() => undefined)
    if (ended.aborted) return
    await check().catch((error: unknown) => {
      if (isUnwanted(error)) failed.abort(error)
    })
  }
}

function isUnwanted(error: unknown): boolean {
  return error instanceof EvaluationDeleted || (error instanceof ClientError && error.status === 403)
}
