/** Calls in, questions out, and the time that each takes. */
import { showProgress } from '../../scripts/progress.ts'
import { median } from '../statistics.ts'
import type { BenchServer } from './servers.ts'
import { openTarget } from './target.ts'
import type { AskedQuestion, NamedQuestion, Wire } from './wires.ts'
import { batchesOf, makeCalls, type WorkCall } from './workload.ts'

/** What an import took. */
export interface Imported {
  calls: number
  /** The calls whose numbers were requested. */
  asked: WorkCall[]
  /** Headers that name what was made for the calls. */
  prepared: Record<string, string>
  /** Of all bodies. */
  sentBytes: number
  acknowledgedPerSecond: number
  visiblePerSecond: number
  /** Whether the first look after the last answer found everything. */
  readableAtOnce: boolean
}

/** Median milliseconds by question. */
export interface Times {
  /** Of one that is asked again and again. */
  ms: Record<string, number>
  /** Of others like it, each asked once. */
  otherMs: Record<string, number>
}

const BATCH = 100
const CONNECTIONS = 4

/** Bodies that are made ahead: enough to keep the server busy, few enough to hold in memory. */
const BATCHES_AHEAD = 200

const WARM_UPS = 3
const TIMES = 9

/** Distance between the calls that are requested: in other traces, and of other ops. */
const ASKED_APART = 41

/** The numbers of some calls from the one in the middle on. */
const fromTheMiddle = (calls: number): number[] =>
  Array.from({ length: 1 + TIMES }, (_, index) => Math.floor(calls / 2) + index * ASKED_APART)

/** Calls that are not there by then are lost. */
const VISIBLE_MS_MAX = 300_000
const LOOK_MS = 50

/**
 * Sends calls and waits until all can be found. The time in which bodies are made is not counted.
 * @param first the number of the first call; as many are there already
 * @param ask the numbers of the calls that are given back
 */
export async function importCalls(
  server: BenchServer,
  wire: Wire,
  {
    calls,
    callsPerTrace,
    first = 0,
    ask = fromTheMiddle(calls),
  }: { calls: number; callsPerTrace?: number; first?: number; ask?: readonly number[] },
): Promise<Imported> {
  const target = openTarget(server.url, CONNECTIONS)
  const prepared = (await wire.prepare?.(target)) ?? {}
  const headers = { ...wire.headers, ...prepared }
  const progress = showProgress(`${server.name}: ${calls} calls by ${wire.path}`)
  progress.step(1, 1, calls / BATCH)
  const asked: WorkCall[] = []
  let sentBytes = 0
  let sendingMs = 0

  async function send(bodies: readonly Buffer[]): Promise<void> {
    // The workers take from one iterator, so that each body is sent once.
    const next = bodies.values()
    async function work(): Promise<void> {
      for (const body of next) {
        await target.ask({ path: wire.path, headers, body })
        progress.advance()
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
  }

  const batches = batchesOf(makeCalls(calls, callsPerTrace, first), BATCH)
  function nextBodies(): Buffer[] {
    const bodies: Buffer[] = []
    while (bodies.length < BATCHES_AHEAD) {
      const { value: batch } = batches.next()
      if (batch === undefined) break
      asked.push(...batch.filter(({ number }) => ask.includes(number)))
      bodies.push(Buffer.from(wire.body(wire.project, batch)))
    }
    return bodies
  }

  try {
    for (let bodies = nextBodies(); bodies.length > 0; bodies = nextBodies()) {
      sentBytes += bodies.reduce((sum, body) => sum + body.length, 0)
      const started = performance.now()
      await send(bodies)
      sendingMs += performance.now() - started
    }
    const visible = await untilVisible(() => wire.found(target, prepared), first + calls)
    progress.done()
    return {
      calls,
      asked,
      prepared,
      sentBytes,
      acknowledgedPerSecond: (1000 * calls) / sendingMs,
      visiblePerSecond: (1000 * calls) / (sendingMs + visible.ms),
      readableAtOnce: visible.looks === 1,
    }
  } catch (error) {
    progress.failed()
    throw error
  } finally {
    await target.close()
  }
}

/** The milliseconds until the look began that found all calls. @throws Error when they do not appear. */
async function untilVisible(
  find: () => Promise<number>,
  calls: number,
): Promise<{ ms: number; looks: number }> {
  const started = performance.now()
  for (let looks = 1; ; looks++) {
    const ms = performance.now() - started
    const found = await find()
    if (found === calls) return { ms, looks }
    if (found > calls || ms > VISIBLE_MS_MAX) throw new Error(`${found} calls were found, not ${calls}`)
    await new Promise((wake) => setTimeout(wake, LOOK_MS))
  }
}

/** How many calls a server reports. */
export async function countCalls(server: BenchServer, wire: Wire): Promise<number> {
  const target = openTarget(server.url, 1)
  try {
    return await wire.found(target, {})
  } finally {
    await target.close()
  }
}

/** Asks each question once; answers are neither checked nor timed. */
export async function askOnce(server: BenchServer, questions: readonly NamedQuestion[]): Promise<void> {
  const target = openTarget(server.url, 1)
  try {
    for (const { request } of questions) await target.drain(request)
  } finally {
    await target.close()
  }
}

/** The time of each question, one at a time. @throws Error for an answer with another number of rows. */
export async function askAll(server: BenchServer, questions: readonly NamedQuestion[]): Promise<Times> {
  const target = openTarget(server.url, 1)
  const progress = showProgress(`${server.name}: ${questions.length} questions`)
  progress.step(1, 1, questions.length)
  const ms: Times['ms'] = {}
  const otherMs: Times['otherMs'] = {}
  try {
    for (const { name, others = [], ...question } of questions) {
      progress.show(name)
      const ask = async ({ request, expected, rows }: AskedQuestion): Promise<void> => {
        const found = rows(await target.ask(request))
        if (found !== expected) throw new Error(`${server.name}, ${name}: ${found} rows, not ${expected}`)
      }
      ms[name] = await medianMs(() => ask(question))
      const taken: number[] = []
      for (const other of others) taken.push(await msOf(() => ask(other)))
      if (taken.length > 0) otherMs[name] = median(taken)
      progress.advance()
    }
    progress.done()
    return { ms, otherMs }
  } catch (error) {
    progress.failed()
    throw error
  } finally {
    await target.close()
  }
}

/** The median of some runs, after some that warm up. */
export async function medianMs(run: () => Promise<unknown>): Promise<number> {
  for (let time = 0; time < WARM_UPS; time++) await run()
  const taken: number[] = []
  for (let time = 0; time < TIMES; time++) taken.push(await msOf(run))
  return median(taken)
}

export async function msOf(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}
