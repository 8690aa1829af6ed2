/** Measurements of Heddle alone: growth, memory and streaming. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { askAll, importCalls, median, medianMs, msOf } from './measure.mjs'
import { coreShare, diskBytes, forgetPeak, peakMib } from './process-cost.mjs'
import { startServer } from './servers.mjs'
import { openTarget } from './target.mjs'
import { WIRES } from './wires.mjs'

export const SMALL = 100_000
export const LARGE = 1_000_000

const LONG_TRACE = 30_000

/** One question that is repeated, and some that are asked once. */
const LONG_TRACES = 6

/** Background work of the last requests is done by then. */
const SETTLE_MS = 20_000
const IDLE_MS = 20_000

/** One project with this many calls: times, memory, disk, and the cost of an idle server. */
export async function measureSize(calls) {
  const server = await startServer('Heddle')
  try {
    const wire = WIRES.complete
    const taken = await importCalls(server, wire, { calls })
    const importPeakMib = peakMib(server.pid)
    forgetPeak(server.pid)
    const asked = await askAll(server, wire.questions(taken.asked, calls))
    return {
      calls,
      ...asked,
      importPeakMib,
      readPeakMib: peakMib(server.pid),
      ...(await costs(server, taken)),
      taken,
    }
  } finally {
    await server.stop()
  }
}

/** The share of a core that an idle server takes, and its bytes on disk beside those that were sent. */
export async function costs(server, { sentBytes }) {
  await new Promise((wake) => setTimeout(wake, SETTLE_MS))
  const idleShare = await coreShare(server.pid, IDLE_MS)
  return { idleShare, diskBytes: diskBytes(server.folder), sentBytes }
}

/**
 * A long trace as Heddle streams it again and again, others each for the first time, and the same bytes from a server that has
 * nothing else to do.
 */
export async function measureLongTrace() {
  const server = await startServer('Heddle')
  try {
    const wire = WIRES.complete
    const { asked } = await importCalls(server, wire, {
      calls: LONG_TRACE * LONG_TRACES,
      callsPerTrace: LONG_TRACE,
      ask: Array.from({ length: LONG_TRACES }, (_, trace) => trace * LONG_TRACE),
    })
    const [again, ...others] = asked.map(
      (call) => wire.questions([call], LONG_TRACE).find(({ name }) => name === 'one trace').request,
    )
    const target = openTarget(server.url, 1)
    const reply = await target.ask(again)
    const heddleMs = await medianMs(() => drainWhole(target, again, reply.length))
    const otherMs = []
    for (const request of others) otherMs.push(await msOf(() => target.drain(request)))
    await target.close()
    const file = join(server.folder, 'reply')
    writeFileSync(file, reply)
    return {
      calls: LONG_TRACE,
      bytes: reply.length,
      heddleMs,
      otherMs: median(otherMs),
      bareMs: await bareMs(file, again, reply.length),
    }
  } finally {
    await server.stop()
  }
}

async function bareMs(file, request, bytes) {
  const program = join(import.meta.dirname, 'bare-server.mjs')
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  const target = openTarget(url, 1)
  try {
    return await medianMs(() => drainWhole(target, request, bytes))
  } finally {
    await target.close()
    child.kill()
  }
}

async function drainWhole(target, request, bytes) {
  const read = await target.drain(request)
  if (read !== bytes) throw new Error(`${read} bytes were streamed, not ${bytes}`)
}
