import { z } from 'zod'
import { newId } from '../../ids.ts'
import type { Log } from '../../log.ts'
import type { MemoryBudget } from './memory-budget.ts'
import { EngineProcessLost, type Trainer } from './port.ts'
import type { Program, StartedTrainer, StartHooks } from './program.ts'
import { runProgram, Unstartable } from './program-instance.ts'
import { type Instance, SLEEP_MS_MAX, type Sleep, type SleepMemory, supervise } from './supervisor.ts'

export interface TrainerOptions {
  name: string
  log: Log
  budget: MemoryBudget
  rank: 'keep' | 'stop-when-idle'
  memoryBytes: () => number
  /** Measures `memoryBytes`, before a start that needs it. */
  measure?: () => Promise<void>
  start: (hooks: StartHooks) => Promise<StartedTrainer>
  /** A busy worker that writes nothing for this long counts as hanging. */
  stallMs: number
  /** Of one that sleeps where it would be ended to make room; ended where absent. */
  sleep?: SleepMemory | undefined
}

/** A trainer worker that speaks JSON lines over its standard streams; its first line is its readiness message. */
export function createTrainer(options: TrainerOptions): Trainer & AsyncDisposable {
  const instance = {
    name: options.name,
    log: options.log,
    callersLines: (program: Program) =>
      busy?.instance.ready === program ? program.lastLines(busy.linesBefore) : [],
    start: options.start,
    untilReady,
  }
  const supervisor = supervise<Program>({
    ...options,
    runInstance: (hooks) => runProgram(instance, hooks),
    sleep: options.sleep && sleepOf(options.sleep),
  })
  /** The instance with a request, and how many lines it had written before it was given that one. */
  let busy: { instance: Instance<Program>; linesBefore: number } | undefined

  return {
    status: supervisor.status,
    [Symbol.asyncDispose]: supervisor[Symbol.asyncDispose],

    async ready(signal) {
      await supervisor.ready(signal)
    },

    send(message) {
      busy?.instance.ready.write(`${JSON.stringify(message)}\n`)
    },

    async *run(request, wait, signal) {
      const release = supervisor.use()
      try {
        const instance = await supervisor.ready(signal, wait).catch(neverSent)
        if (busy !== undefined) throw new Error(`${options.name} was given two requests at once`)
        busy = { instance, linesBefore: instance.ready.lineCount() }
        try {
          yield* converse(instance, request, { stallMs: options.stallMs, signal })
        } finally {
          busy = undefined
        }
      } finally {
        release()
      }
    },
  }
}

/** Sends a request and yields the messages that follow. */
async function* converse(
  instance: Instance<Program>,
  request: object,
  options: { stallMs: number; signal: AbortSignal },
): AsyncIterable<unknown> {
  const inbox = createInbox(instance, options)
  try {
    instance.ready.write(`${JSON.stringify(request)}\n`)
    for (;;) yield await inbox.next()
  } finally {
    inbox.close()
  }
}

/** Wire: requests and answers of `src/training/trainer/contract-wire.ts`. */
function sleepOf(memory: SleepMemory): Sleep<Program> {
  return {
    ...memory,
    begin: (instance, signal) => ask(instance, { kind: 'sleep', answer: 'asleep' }, signal),
    end: (instance, signal) => ask(instance, { kind: 'wake', answer: 'awake' }, signal),
  }
}

/** Resolves with the answer to a request between others. @throws Error with the worker's reason; the signal's reason */
async function ask(
  instance: Instance<Program>,
  { kind, answer }: { kind: string; answer: string },
  signal: AbortSignal,
): Promise<void> {
  const request = { kind, request_id: newId() }
  for await (const message of converse(instance, request, { stallMs: SLEEP_MS_MAX, signal })) {
    const { data } = Answer.safeParse(message)
    // The last messages of a cancelled job may still come.
    if (data?.request_id !== request.request_id) continue
    if (data.kind === answer) return
    throw new Error(data.error_message ?? `it answers ${data.kind} to ${kind}`)
  }
}

const Answer = z.object({ kind: z.string(), request_id: z.string(), error_message: z.string().optional() })

/** A worker that cannot be started has not seen the request. */
function neverSent(error: unknown): never {
  throw error instanceof EngineProcessLost
    ? new EngineProcessLost(error.message, { cause: error, request: 'unsent' })
    : error
}

/** Resolves with the program once it has said that it can work. @throws Unstartable where it says that none can */
async function untilReady({ program }: StartedTrainer, ended: AbortSignal): Promise<Program> {
  const { kind } = First.parse(parse(await firstLine(program, ended)))
  if (kind === 'base_model_unusable') throw new Unstartable(`${program.place} cannot use its base model`)
  return program
}

/** Wire: the first messages of `src/training/trainer/contract-wire.ts`. */
const First = z.object({ kind: z.string() })

function firstLine(program: Program, ended: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const stop = program.onLine((line) => {
      stop()
      resolve(line)
    })
    const fail = () => reject(ended.reason)
    if (ended.aborted) fail()
    else ended.addEventListener('abort', fail, { once: true })
  })
}

interface Inbox {
  next(): Promise<unknown>
  close(): void
}

/** Messages of one instance, in order; detects silence. */
function createInbox(instance: Instance<Program>, options: { stallMs: number; signal: AbortSignal }): Inbox {
  const { stallMs, signal } = options
  const lines: string[] = []
  let wake: (() => void) | undefined
  const wakeUp = (): void => wake?.()

  const watch = (): NodeJS.Timeout =>
    setTimeout(() => instance.replace(`it hung: no progress for ${stallMs / 1000} s`), stallMs)
  let watchdog = watch()

  const stopListening = instance.ready.onLine((line) => {
    clearTimeout(watchdog)
    watchdog = watch()
    lines.push(line)
    wakeUp()
  })
  instance.ended.addEventListener('abort', wakeUp, { once: true })
  signal.addEventListener('abort', wakeUp, { once: true })

  return {
    async next() {
      for (;;) {
        signal.throwIfAborted()
        const line = lines.shift()
        if (line !== undefined) return parse(line)
        if (instance.ended.aborted) throw instance.ended.reason
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    close() {
      stopListening()
      clearTimeout(watchdog)
      instance.ended.removeEventListener('abort', wakeUp)
      signal.removeEventListener('abort', wakeUp)
    },
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new EngineProcessLost('The trainer wrote a line that is not JSON', { cause: error })
  }
}
