import type { Log } from '../../log.ts'
import { EngineProcessLost } from './port.ts'
import type { Program, StartHooks } from './program.ts'
import type { InstanceHooks } from './supervisor.ts'

/** Downloading and loading a large base model may take this long; a start that takes longer counts as hanging. */
const START_MS_MAX = 60 * 60_000

/**
 * A starting program that writes nothing for this long counts as hanging; imports on a busy machine took up to 30 s in
 * silence.
 */
const START_SILENCE_MS_MAX = 180_000

/** How often a starting program is checked. */
const START_WATCH_MS = 1_000

export interface ProgramInstanceOptions<Started extends { program: Program }, Ready> {
  name: string
  log: Log
  /**
   * The output lines that are about the current request only: if the program ends after it was ready, the caller gets
   * the last one.
   */
  callersLines: (program: Program) => string[]
  start: (hooks: StartHooks) => Promise<Started>
  /** Resolves once the program can work; the result is passed to the waiters. @throws Unstartable */
  untilReady: (started: Started, ended: AbortSignal) => Promise<Ready>
}

/** A program that ends says that it would end in every other start, too. */
export class Unstartable extends Error {}

/** A program as one instance of an engine process. */
export async function runProgram<Started extends { program: Program }, Ready>(
  options: ProgramInstanceOptions<Started, Ready>,
  hooks: InstanceHooks<Ready>,
): Promise<string> {
  const { name, log } = options
  const { stopping } = hooks
  const started = await options.start(hooks)
  const { program } = started
  hooks.onWaiting(undefined)
  const ended = new AbortController()
  let killReason: string | undefined
  let wasReady = false
  hooks.onOutput(program.lastLines)
  log.info({ process: name, place: program.place }, 'engine process starting')
  const gone = program.exited.then((how) => {
    const end = `${name} ended: ${killReason ?? how}`
    // Until the program is ready, its output is about its start. After that it may contain users' data, while the
    // returned reason is visible to every key: so only the caller of the current request gets output, and only its own.
    const reason = wasReady ? end : end + lastOutput(program.lastLines())
    log.info({ process: name, last_line: program.lastLines().at(-1) }, 'engine process wrote last')
    ended.abort(new EngineProcessLost(wasReady ? end + lastOutput(options.callersLines(program)) : reason))
    return reason
  })
  function replace(reason: string): void {
    if (ended.signal.aborted || killReason !== undefined) return
    killReason = reason
    void program.kill('at-once')
  }
  function stop(): void {
    // From here on it accepts no request, although the process lives a little longer.
    ended.abort(stopping.reason)
    void program.kill('politely')
  }
  if (stopping.aborted) stop()
  else stopping.addEventListener('abort', stop, { once: true })
  const stopWatching = watchStart(program, replace)
  try {
    const ready = await options.untilReady(started, ended.signal)
    ended.signal.throwIfAborted()
    wasReady = true
    stopWatching()
    log.info({ process: name, place: program.place }, 'engine process ready')
    hooks.onReady({ isAlive: program.isAlive, ready, ended: ended.signal, replace, suspect: () => {} })
  } catch (error) {
    // Its last output says why it ends.
    if (error instanceof Unstartable) hooks.onUnstartable()
    else if (!ended.signal.aborted) replace(`its start failed (${String(error)})`)
  }
  const reason = await gone
  stopWatching()
  stopping.removeEventListener('abort', stop)
  return reason
}

/** Replaces a program whose start hangs; returns a function that ends the check. */
function watchStart(program: Program, replace: (reason: string) => void): () => void {
  const startedAt = performance.now()
  const timer = setInterval(() => {
    if (program.silentMs() > START_SILENCE_MS_MAX) {
      replace(`its start hung: it wrote nothing for ${START_SILENCE_MS_MAX / 1000} s`)
    } else if (performance.now() - startedAt > START_MS_MAX) {
      replace(`not ready within ${START_MS_MAX / 1000} s`)
    }
  }, START_WATCH_MS)
  return () => clearInterval(timer)
}

/** Lines without a cause: the mark at the end of a log, and progress bars. */
const NO_REASON = /^— ended|\d+%\|/

/** The end of the output is where programs print the cause of a failure. */
function lastOutput(lines: string[]): string {
  const last = lines.filter((line) => line.trim() !== '' && !NO_REASON.test(line)).at(-1)
  return last === undefined ? '' : `; its last output: ${last.trim()}`
}
