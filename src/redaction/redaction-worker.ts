import { ClientError } from '../errors.ts'
import { serveLimitedWork } from '../threads/serve-limited-work.ts'
import { type Redacted, type RedactionJob, redactAll } from './redaction-job.ts'
import { type CompiledRules, compileRules } from './rules.ts'
import type { Rule } from './wire.ts'

/** Compiled patterns that are kept for the next job: each may take 8 MB for what it has learned of texts. */
const PATTERNS_KEPT_MAX = 50

/** By their JSON, those that were used last at the end. */
const kept = new Map<string, CompiledRules>()

/** The program of the threads that redact what takes long. */
serveLimitedWork(redacted)

function redacted({ rules, key, values }: RedactionJob): Redacted {
  try {
    return redactAll(compiledOf(rules), key, values)
  } catch (error) {
    if (error instanceof ClientError) throw error
    // Messages, such as those of JSON.parse, may quote what is to be redacted, and the error goes to the log.
    throw new Error(error instanceof Error ? error.name : 'unknown error')
  }
}

function compiledOf(rules: readonly Rule[]): CompiledRules {
  const name = JSON.stringify(rules)
  const compiled = kept.get(name) ?? compileRules(rules)
  kept.delete(name)
  kept.set(name, compiled)
  const patterns = (): number => kept.values().reduce((sum, one) => sum + one.patterns.length, 0)
  for (const oldest of kept.keys()) {
    if (oldest === name || patterns() <= PATTERNS_KEPT_MAX) break
    kept.delete(oldest)
  }
  return compiled
}
