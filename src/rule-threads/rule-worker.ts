import { messageOf } from '../errors.ts'
import { serveThread } from '../threads/serve-thread.ts'
import { builtinRule } from './builtin-rules.ts'
import { conforms } from './conforms.ts'
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
  if (job.kind === 'schema') return conforms(job.value, job.schema, 'field_schema')
  return builtinRule(job.className, job.fields)?.(job.scored)
}
