import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pLimit from 'p-limit'
import { dependencyFailed, messageOf, unavailable } from '../../errors.ts'

const PROGRAM = join(import.meta.dirname, '../../../engine/src/scorer_code')

/** Processes at once; the code in each may take 2 GiB of memory. */
const PROCESSES_MAX = 2

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
  /** The line that answers a line. @throws 502 where the program does not start, or has ended. */
  ask(request: string): Promise<string>
}

export function createScorerProcesses({ find, confinement }: ScorerPython): ScorerProcesses {
  const turns = pLimit(PROCESSES_MAX)
  const idle: Process[] = []
  const all = new Set<Process>()

  function start(): Process {
    const found = find()
    if (found === undefined)
      throw unavailable('The engine, whose Python runs scorers that are code, is not installed', 60)
    const started = startProcess(found, confinement)
    all.add(started)
    return started
  }

  async function ask(request: string): Promise<string> {
    const process = idle.pop() ?? start()
    try {
      const answer = await process.ask(request)
      idle.push(process)
      return answer
    } catch (error) {
      process.end()
      all.delete(process)
      throw error
    }
  }

  return {
    ask: (request) => turns(() => ask(request)),
    [Symbol.dispose](): void {
      for (const process of all) process.end()
    },
  }
}

function startProcess(python: string, confinement: ScorerPython['confinement']): Process {
  const flags = confinement === 'none' ? ['--unconfined'] : []
  const child = spawn(python, ['-I', PROGRAM, ...flags], {
    cwd: tmpdir(),
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const failed = new Promise<never>((_, reject) => {
    child.once('error', (error) =>
      reject(dependencyFailed(`Python did not start: ${messageOf(error)}`, error)),
    )
  })
  // The caller gets the error.
  failed.catch(() => undefined)
  // A program that ended without reading shows in its missing answer.
  child.stdin.on('error', () => undefined)
  return {
    async ask(request) {
      const tooLong = setTimeout(() => child.kill('SIGKILL'), SECONDS_MAX * 1000)
      try {
        child.stdin.write(`${request}\n`)
        const answer = await Promise.race([answers.next(), failed])
        if (answer.done) throw dependencyFailed('The program that runs scorers ended', undefined)
        return answer.value
      } finally {
        clearTimeout(tooLong)
      }
    },
    end: () => void child.kill('SIGKILL'),
  }
}
