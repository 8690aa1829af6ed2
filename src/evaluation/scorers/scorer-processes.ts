import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { dependencyFailed, messageOf, notInstalled, unavailable } from '../../errors.ts'
import { createFairLimiter } from '../../fairness/fair-limiter.ts'

const PROGRAM = join(import.meta.dirname, '../../../engine/src/scorer_code')

/** Processes at once; the code in each may take 2 GiB of memory. */
const PROCESSES_MAX = 2

/** Requests of one entity that wait: more than its evaluations and scores that run at once ask for. */
const WAITING_MAX = 10_000

/** The program has a shorter time limit of its own. */
const SECONDS_MAX = 70

/** How the code of scorers is run. */
export interface ScorerPython {
  /** The Python; undefined while it is not installed. */
  find: () => string | undefined
  /** `required`: code is refused where the system cannot confine it; `none`: it has the rights of the server's user. */
  confinement: 'required' | 'none'
}

/** A running program, which answers one request at a time. */
interface Process {
  ask(request: string): Promise<string>
  end(): void
}

/** Programs that run the code of scorers; each is started when first needed and kept until disposal. */
export interface ScorerProcesses extends Disposable {
  /**
   * The line that answers a line. Projects take turns.
   * @param owner the id of the project
   * @param request makes the line when its turn has come: thousands that wait may have some megabytes each
   * @throws 503 where the program does not start, or ends without an answer, and where too many requests of the entity
   * wait
   */
  ask(owner: string, request: () => string): Promise<string>
}

export function createScorerProcesses({ find, confinement }: ScorerPython): ScorerProcesses {
  const turns = createFairLimiter({
    slots: PROCESSES_MAX,
    ownerSlots: PROCESSES_MAX,
    waitingMax: WAITING_MAX,
    refusal: (entity) => unavailable(`${WAITING_MAX} scores of ${entity} by code are waiting already`, 60),
  })
  let isDisposed = false
  const idle: Process[] = []
  const all = new Set<Process>()

  function start(): Process {
    if (isDisposed) throw unavailable('The server stops')
    const found = find()
    if (found === undefined)
      throw notInstalled('The engine, whose Python runs scorers that are code, is not installed')
    const started = startProcess(found, confinement, () => remove(started))
    all.add(started)
    return started
  }

  function remove(ended: Process): void {
    all.delete(ended)
    idle.splice(0, idle.length, ...idle.filter((one) => one !== ended))
  }

  async function askOne(request: () => string): Promise<string> {
    const line = request()
    const process = idle.pop() ?? start()
    try {
      const answer = await process.ask(line)
      idle.push(process)
      return answer
    } catch (error) {
      process.end()
      all.delete(process)
      throw error
    }
  }

  return {
    ask: (owner, request) => turns(owner, () => askOne(request)),
    [Symbol.dispose](): void {
      isDisposed = true
      for (const process of all) process.end()
    },
  }
}

function startProcess(python: string, confinement: ScorerPython['confinement'], onExit: () => void): Process {
  const flags = confinement === 'none' ? ['--unconfined'] : []
  const child = spawn(python, ['-I', PROGRAM, ...flags], {
    cwd: tmpdir(),
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.once('exit', onExit)
  const lines = createInterface({ input: child.stdout })
  const answers = lines[Symbol.asyncIterator]()
  /** Why there is no program, and so no answer. */
  let failed: Error | undefined
  child.once('error', (error) => {
    failed = dependencyFailed(`Python did not start: ${messageOf(error)}`, error)
    lines.close()
  })
  // A program that ended without reading shows in its missing answer.
  child.stdin.on('error', () => undefined)
  return {
    async ask(request) {
      const tooLong = setTimeout(() => child.kill('SIGKILL'), SECONDS_MAX * 1000)
      try {
        child.stdin.write(`${request}\n`)
        const answer = await answers.next()
        if (answer.done) throw failed ?? dependencyFailed('The program that runs scorers ended', undefined)
        return answer.value
      } finally {
        clearTimeout(tooLong)
      }
    },
    end: () => void child.kill('SIGKILL'),
  }
}
