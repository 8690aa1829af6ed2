import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import { dependencyFailed, invalidRequest } from '../errors.ts'
import type { RuleAnswer, RuleJob } from './rule.ts'

/** Threads at once; what they compute is short, and the rest of the machine is for everybody. */
const THREADS_MAX = 2

/**
 * A rule of a user that takes longer is given up, and its thread ended: expressions may backtrack without end. Comparing the
 * longest texts that are compared takes some 4 s.
 */
const RULE_MS_MAX = 10_000

/** A thread reads some files before it is ready. */
const START_MS_MAX = 60_000

/** Of one thread: a schema and a value of some megabytes take some tens of them. */
const MEMORY_MB_MAX = 256

const turns = pLimit(THREADS_MAX)
const idle: Worker[] = []

/**
 * Runs a rule that a user wrote, away from the thread that serves.
 * @throws 400 with what the rule says is wrong, or for one that takes too long or too much memory; 503 without a thread.
 */
export function runRule(job: RuleJob, { timeoutMs = RULE_MS_MAX } = {}): Promise<unknown> {
  return turns(async () => {
    const worker = idle.pop() ?? (await startWorker())
    worker.ref()
    try {
      const answer = await answerOf(worker, job, timeoutMs)
      worker.unref()
      idle.push(worker)
      if ('error' in answer) throw invalidRequest(answer.error)
      return answer.result
    } catch (error) {
      if (!idle.includes(worker)) await worker.terminate()
      throw error
    }
  })
}

async function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./rule-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB_MAX },
  })
  // What ends it is told to whoever waits for its answer; without a listener it would end the server.
  worker.on('error', () => idle.splice(0, idle.length, ...idle.filter((one) => one !== worker)))
  try {
    await once(worker, 'message', { signal: AbortSignal.timeout(START_MS_MAX) })
    return worker
  } catch (error) {
    await worker.terminate()
    throw dependencyFailed('No thread for rules could be started', error)
  }
}

function answerOf(worker: Worker, job: RuleJob, timeoutMs: number): Promise<RuleAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      finish(() => reject(invalidRequest(`The rule takes more than ${timeoutMs} ms`)))
    }, timeoutMs)
    const onMessage = (answer: RuleAnswer): void => finish(() => resolve(answer))
    const onExit = (): void =>
      finish(() => reject(invalidRequest(`The rule takes more than ${MEMORY_MB_MAX} MB of memory`)))
    function finish(settle: () => void): void {
      clearTimeout(timer)
      worker.off('message', onMessage).off('exit', onExit)
      settle()
    }
    worker.on('message', onMessage).on('exit', onExit)
    worker.postMessage(job)
  })
}
