/** Calls in, questions out, and the time that each takes. */
import { showProgress } from '../../scripts/progress.mjs'
import { openTarget } from './target.mjs'
import { batchesOf, makeCalls } from './workload.mjs'

const BATCH = 100
const CONNECTIONS = 4

/** Bodies that are made ahead: enough to keep the server busy, few enough to hold in memory. */
const BATCHES_AHEAD = 200

const WARM_UPS = 3
const TIMES = 9

/** Calls that are not there by then are lost. */
const VISIBLE_MS_MAX = 300_000
const LOOK_MS = 50

/**
 * Sends calls and waits until all can be found. The time in which bodies are made is not counted.
 * `asked` is the call in the middle, `sentBytes` what the bodies have together, and `readableAtOnce` whether the first
 * look after the last answer found everything.
 */
export async function importCalls(server, wire, { calls, callsPerTrace }) {
  const target = openTarget(server.url, CONNECTIONS)
  const prepared = (await wire.prepare?.(target)) ?? {}
  const headers = { ...wire.headers, ...prepared }
  const progress = showProgress(`${server.name}: ${calls} calls by ${wire.path}`)
  progress.step(1, 1, calls / BATCH)
  const state = { asked: undefined, sentBytes: 0, sendingMs: 0 }

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
      state.asked ??= batch.find(({ number }) => number >= Math.floor(calls / 2))
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

/** How many calls a server says it has. */
export async function countCalls(server, wire, prepared) {
  const target = openTarget(server.url, 1)
  try {
    return await wire.found(target, prepared)
  } finally {
    await target.close()
  }
}

/** Median milliseconds of each question, one at a time. @throws Error for an answer with another number of rows. */
export async function askAll(server, questions) {
  const target = openTarget(server.url, 1)
  const progress = showProgress(`${server.name}: ${questions.length} questions`)
  progress.step(1, 1, questions.length)
  const ms = {}
  try {
    for (const { name, request, expected, rows } of questions) {
      progress.show(name)
      const check = (reply) => {
        const found = rows(reply)
        if (found !== expected) throw new Error(`${server.name}, ${name}: ${found} rows, not ${expected}`)
      }
      ms[name] = await medianMs(async () => check(await target.ask(request)))
      progress.advance()
    }
    progress.done()
    return ms
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
  for (let time = 0; time < TIMES; time++) {
    const started = performance.now()
    await run()
    taken.push(performance.now() - started)
  }
  return taken.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)]
}
