import { dependencyFailed, invalidRequest } from '../errors.ts'
import { createThreads, ThreadLost } from '../threads/threads.ts'
import type { RuleAnswer, RuleJob } from './rule.ts'

/** Rules are short, and the other processors serve the rest of the machine. */
const THREADS_MAX = 2

/**
 * A user's rule that takes longer fails, and its thread is ended: expressions may backtrack without end. Comparing the
 * longest texts that are compared takes some 4 s.
 */
const RULE_MS_MAX = 10_000

/** Of one thread: a schema and a value of some megabytes take some tens of them. */
const MEMORY_MB_MAX = 256

const ask = createThreads<RuleJob, RuleAnswer>({
  program: new URL('./rule-worker.ts', import.meta.url),
  threadsMax: THREADS_MAX,
  memoryMbMax: MEMORY_MB_MAX,
})

/**
 * Runs a rule that a user wrote, away from the thread that serves; projects take turns.
 * @throws 400 with what the rule says is wrong, or for one that takes too long or too much memory; 503 without a
 * thread, 429 where too many rules of the entity wait.
 */
export async function runRule(
  projectId: string,
  job: RuleJob,
  { timeoutMs = RULE_MS_MAX } = {},
): Promise<unknown> {
  const answer = await ask(projectId, job, { timeoutMs }).catch((error: unknown) => {
    throw error instanceof ThreadLost ? refusalOf(error, timeoutMs) : error
  })
  if ('error' in answer) throw invalidRequest(answer.error)
  return answer.result
}

function refusalOf(lost: ThreadLost, timeoutMs: number): Error {
  if (lost.why === 'too-late') return invalidRequest(`The rule takes more than ${timeoutMs} ms`)
  if (lost.why === 'ended') return invalidRequest(`The rule takes more than ${MEMORY_MB_MAX} MB of memory`)
  return dependencyFailed('No thread for rules could be started', lost)
}
