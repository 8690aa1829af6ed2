/** Programs that run one after the other under one line of progress. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type Progress, showProgress } from './progress.ts'
import { ROOT } from './repository.ts'

export interface Step {
  command: readonly [program: string, ...args: string[]]
  /** How many lines of output `counts` will match; 0 where that is unknown. */
  total: number
  counts?: RegExp
  /** Its first group is shown as what is being done. */
  shows?: RegExp
  /** What is run where the command fails. */
  otherwise?: Step
}

/** Lines of output kept to explain a failure. */
const TAIL_LINES = 30

const NO_REGISTRY = /NewConnectionError|Temporary failure|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ENETUNREACH/

/**
 * Runs the steps in the repository. @throws Error with the end of the output of the step that failed.
 * @param signal ends the step that runs, with all that it has started
 */
export async function runSteps(what: string, steps: readonly Step[], signal?: AbortSignal): Promise<void> {
  const progress = showProgress(what)
  try {
    for (const [index, step] of steps.entries()) {
      const run = (one: Step): Promise<void> => {
        signal?.throwIfAborted()
        progress.step(index + 1, steps.length, one.total)
        return runStep(one, progress, signal)
      }
      const { otherwise } = step
      await (otherwise === undefined ? run(step) : run(step).catch(() => run(otherwise)))
    }
    progress.done()
  } catch (error) {
    progress.failed()
    throw error
  }
}

function runStep(
  { command, counts, shows }: Step,
  progress: Progress,
  stop: AbortSignal | undefined,
): Promise<void> {
  const [program, ...args] = command
  return new Promise((fulfil, reject) => {
    // What can be stopped is a group of its own, since an installer starts programs too, which would go on.
    const detached = stop !== undefined
    const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached })
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
      } catch {
        // It has just ended by itself.
      }
    }
    stop?.addEventListener('abort', end)
    const tail: string[] = []
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        tail.push(line)
        if (tail.length > TAIL_LINES) tail.shift()
        if (counts?.test(line)) progress.advance()
        const shown = shows?.exec(line)?.[1]
        if (shown) progress.show(shown)
      })
    }
    child.once('error', reject)
    child.once('close', (code, signal) => {
      stop?.removeEventListener('abort', end)
      if (code === 0) return fulfil()
      const reason = signal ? `was ended by ${signal}` : `ended with status ${code}`
      const hint = NO_REGISTRY.test(tail.join('\n'))
        ? '\nThe package registry could not be reached: check the network or the proxy settings, then run the same command again.'
        : ''
      reject(new Error(`${command.join(' ')} ${reason}:\n  ${tail.join('\n  ')}${hint}`))
    })
  })
}
