/** Calls in, questions out, and the time that each takes. */
import { showProgress } from '../../scripts/progress.ts'
import { openTarget } from './target.mjs'
import { batchesOf, makeCalls } from './workload.mjs'

const BATCH = 100
const CONNECTIONS = 4

/** Bodies that are made ahead: enough to keep the server busy, few enough to hold in memory. */
const BATCHES_AHEAD = 200

const WARM_UPS = 3
const TIMES = 9

/** Distance between the calls that are asked for: in other traces, and of other ops. */
const ASKED_APART = 41

/** The numbers of some calls from the one in the middle on. */
const fromTheMiddle = (calls) =>
  Array.from({ length: 1 + TIMES }, (_, index) => Math.floor(calls / 2) + index * ASKED_APART)

/** Calls that are not there by then are lost. */
const VISIBLE_MS_MAX = 300_000
const LOOK_MS = 50

/**
 * Sends calls and waits until all can be found. The time in which bodies are made is not counted.
 * `asked` is the calls with the numbers of `ask`, `sentBytes` what the bodies have together, and `readableAtOnce` whether the first
 * look after the last answer found everything.
 */
export async function importCalls(server, wire, { calls, callsPerTrace, ask = fromTheMiddle(calls) }) {
  const target = openTarget(server.url, CONNECTIONS)
  const prepared = (await wire.prepare?.(target)) ?? {}
  const headers = { ...wire.headers, ...prepared }
  const progress = showProgress(`${server.name}: ${calls} calls by ${wire.path}`)
  progress.step(1, 1, calls / BATCH)
  const state = { asked: [], sentBytes: 0, sendingMs: 0 }

  async function send(bodies) {
    const next = bodies[Symbol.iterator]()
    async function work() {
      for (const body of next) {
        await target.ask({ path: wire.path, headers, body })
        progress.advance()
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, work))
  }

  const batches = batchesOf(makeCalls(calls, callsPerTrace), BATCH)
  function nextBodies() {
    const bodies = []
    while (bodies.length < BATCHES_AHEAD) {
      const { value: batch, done } = batches.next()
      if (done) break
      state.asked.push(...batch.filter(({ number }) => ask.includes(number)))
      bodies.push(Buffer.from(wire.body(wire.project, batch)))
    }
    return bodies
  }

  try {
    for (let bodies = nextBodies(); bodies.length > 0; bodies = nextBodies()) {
      state.sentBytes += bodies.reduce((sum, body) => sum + body.length, 0)
      const started = performance.now()
      await send(bodies)
      state.sendingMs += performance.now() - started
    }
    const visible = await untilVisible(() => wire.found(target, prepared), calls)
    progress.done()
    return {
      calls,
      asked: state.asked,
      prepared,
      sentBytes: state.sentBytes,
      acknowledgedPerSecond: (1000 * calls) / state.sendingMs,
      visiblePerSecond: (1000 * calls) / (state.sendingMs + visible.ms),
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
async function untilVisible(find, calls) {
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
export async function countCalls(server, wire, prepared) {
  const target = openTarget(server.url, 1)
  try {
    return await wire.found(target, prepared)
  } finally {
    await target.close()
  }
}

/**
 * Median milliseconds of each question, one at a time: `ms` of one that is asked again and again, `otherMs` of others like
 * it, each asked once. @throws Error for an answer with another number of rows.
 */
export async function askAll(server, questions) {
  const target = openTarget(server.url, 1)
  const progress = showProgress(`${server.name}: ${questions.length} questions`)
  progress.step(1, 1, questions.length)
  const ms = {}
  const otherMs = {}
  try {
    for (const { name, others = [], ...question } of questions) {
      progress.show(name)
      const ask = async ({ request, expected, rows }) => {
        const found = rows(await target.ask(request))
        if (found !== expected) throw new Error(`${server.name}, ${name}: ${found} rows, not ${expected}`)
      }
      ms[name] = await medianMs(() => ask(question))
      const taken = []
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
export async function medianMs(run) {
  for (let time = 0; time < WARM_UPS; time++) await run()
  const taken = []
  for (let time = 0; time < TIMES; time++) taken.push(await msOf(run))
  return median(taken)
}

export async function msOf(run) {
  const started = performance.now()
  await run()
  return performance.now() - started
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
