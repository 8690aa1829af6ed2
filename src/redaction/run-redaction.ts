import { dependencyFailed, invalidRequest, tooLarge } from '../errors.ts'
import { inOrderByKey } from '../in-order.ts'
import { createThreads, ThreadLost } from '../threads/threads.ts'
import { type Redacted, type RedactionAnswer, type RedactionJob, redactAll } from './redaction-job.ts'
import { type CompiledRules, compileRules } from './rules.ts'

/** Characters that are redacted on the thread that serves: some 1 ms, and less than 100 ms whatever they are. */
const CHARS_HERE_MAX = 64 * 1024

/**
 * A request that takes longer is refused. Built-in patterns read some 100 MB in this time; patterns of users may take a
 * time that grows with the square of a text.
 */
const THREAD_MS_MAX = 5_000

/** The other processors serve the rest of the machine. */
const THREADS_MAX = 2

/** Of one thread: the largest request, what replaces it, and 8 MB for each of 50 patterns. */
const MEMORY_MB_MAX = 1024

const ask = createThreads<RedactionJob, RedactionAnswer>({
  program: new URL('./redaction-worker.ts', import.meta.url),
  threadsMax: THREADS_MAX,
  memoryMbMax: MEMORY_MB_MAX,
})

/** A project has one thread at a time, so that its slow patterns leave the other one to other projects. */
const byProject = inOrderByKey()

/** A project's rules, ready to be applied. */
export interface ReadyRules {
  rules: RedactionJob['rules']
  /** Undefined for rules with patterns of users, which are compiled and searched for in threads only. */
  compiled: CompiledRules | undefined
}

/** Rules that were checked when they were set. */
export function readyRules(rules: RedactionJob['rules']): ReadyRules {
  const hasOwnPatterns = rules.some(({ match }) => match === 'pattern')
  return { rules, compiled: hasOwnPatterns ? undefined : compileRules(rules) }
}

/** @throws 400 that names the rule at fault. */
export async function checkedRules(rules: RedactionJob['rules'], projectId: string): Promise<ReadyRules> {
  const ready = readyRules(rules)
  await runRedaction(ready, { key: { secret: '', projectId }, values: [] })
  return ready
}

/**
 * Redacts values, in a thread where that may take long.
 * @throws 400 for JSON that is nested too deep, 413 for what takes too long or too much memory, 503 without a thread.
 */
export async function runRedaction(
  { rules, compiled }: ReadyRules,
  { key, values }: Pick<RedactionJob, 'key' | 'values'>,
): Promise<Redacted> {
  const chars = values.reduce((sum, { text }) => sum + text.length, 0)
  if (compiled !== undefined && chars <= CHARS_HERE_MAX) return redactAll(compiled, key, values)
  const asked = byProject(key.projectId, () => ask({ rules, key, values }, { timeoutMs: THREAD_MS_MAX }))
  const answer = await asked.catch((error: unknown) => {
    throw error instanceof ThreadLost ? refusalOf(error) : error
  })
  if ('refused' in answer) throw invalidRequest(answer.refused)
  if ('failed' in answer)
    throw dependencyFailed('What was sent could not be redacted', new Error(answer.failed))
  return answer
}

function refusalOf(lost: ThreadLost): Error {
  if (lost.why === 'not-started') return dependencyFailed('No thread for redaction could be started', lost)
  const limit = lost.why === 'too-late' ? `${THREAD_MS_MAX} ms` : `${MEMORY_MB_MAX} MB`
  return tooLarge(`The redaction rules of the project take more than ${limit} for this request`)
}
