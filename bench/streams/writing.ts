/** The process that writes calls beside streams, so that its work does not delay the pieces that are timed. */
import { answerParent } from '../child.ts'
import { BATCH_CALLS, writeSteadily } from '../traces/steady-writers.ts'
import { openTarget } from '../traces/target.ts'
import { makeCalls } from '../traces/workload.ts'

export interface WritingTask {
  url: string
  project: string
  /** Calls a second. */
  rate: number
  seconds: number
}

export interface Written {
  calls: number
  failed: number
  /** Milliseconds of each batch since it was due. */
  tookMs: number[]
}

/** Different calls that new ones are copied from. */
const KINDS = 2000
const CONNECTIONS = 4

async function write({ url, project, rate, seconds }: WritingTask): Promise<Written> {
  const target = openTarget(url, CONNECTIONS)
  const tookMs: number[] = []
  let failed = 0
  const timed = async (due: number, writing: () => Promise<void>): Promise<void> => {
    await writing().then(
      () => tookMs.push(performance.now() - due),
      () => failed++,
    )
  }
  const until = performance.now() + seconds * 1000
  await writeSteadily({ target, project, stored, rate, until, timed })
  await target.close()
  return { calls: tookMs.length * BATCH_CALLS, failed, tookMs }
}

const stored = [...makeCalls(KINDS)]
answerParent(write)
