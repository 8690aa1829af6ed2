import { Validator } from '@cfworker/json-schema'
import { messageOf } from '../errors.ts'
import { serveThread } from '../threads/serve-thread.ts'
import { builtinRule } from './builtin-rules.ts'
import type { RuleAnswer, RuleJob } from './rule.ts'

/** The program of a thread that runs rules. */
serveThread(answerTo)

function answerTo(job: RuleJob): RuleAnswer {
  try {
    return { result: resultOf(job) }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

function resultOf(job: RuleJob): unknown {
  if (job.kind === 'schema') return conforms(job.value, job.schema)
  return builtinRule(job.className, job.fields)?.(job.scored)
}

function conforms(value: unknown, schema: object): boolean {
  try {
    return new Validator({ ...schema }, '2020-12').validate(value).valid
  } catch (error) {
    throw new Error('field_schema is not a JSON schema', { cause: error })
  }
}
