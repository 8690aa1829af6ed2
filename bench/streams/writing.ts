/** The process that writes calls beside streams, so that its work does not delay the pieces that are timed. */
import { answerParent } from '../child.ts'
import { WRITERS, type Written, writeSteadily } from '../traces/steady-writers.ts'
import { openTarget } from '../traces/target.ts'
import { makeCalls } from '../traces/workload.ts'

export interface WritingTask {
  url: string
  project: string
  /** Calls a second. */
  rate: number
  seconds: number
}

/** Different calls that new ones are copied from. */
const KINDS = 2000

async function write({ url, project, rate, seconds }: WritingTask): Promise<Written> {
  const target = openTarget(url, WRITERS)
  const until = performance.now() + seconds * 1000
  const written = await writeSteadily({ target, project, stored, rate, until })
  await target.close()
  return written
}

const stored = [...makeCalls(KINDS)]
answerParent(write)
