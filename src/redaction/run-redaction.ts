import { createLimitedWork } from '../threads/limited-work.ts'
import { type Redacted, type RedactionJob, redactAll } from './redaction-job.ts'
import { type CompiledRules, compileRules } from './rules.ts'

/** Characters that are redacted on the thread that serves: some 1 ms, and less than 100 ms whatever they are. */
const CHARS_HERE_MAX = 64 * 1024

/** A project has one thread at a time, so that its slow patterns leave the other one to other projects. */
const redact = createLimitedWork<RedactionJob, Redacted>({
  program: new URL('./redaction-worker.ts', import.meta.url),
  does: 'apply the redaction rules of the project',
  // Built-in patterns read some 100 MB in this time; patterns of users may take a time that grows with the square of a
  // text.
  msMax: 5_000,
  // The largest request, what replaces it, and 8 MB for each of 50 patterns.
  memoryMbMax: 1024,
})

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
  return redact(key.projectId, { rules, key, values })
}
