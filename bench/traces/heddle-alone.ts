/** Measurements of Heddle alone: growth, memory and streaming. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { median } from '../statistics.ts'
import { askAll, type Imported, importCalls, medianMs, msOf, type Times } from './measure.ts'
import { coreShare, diskBytes, watchMemory } from './process-cost.ts'
import { type BenchServer, startServer } from './servers.ts'
import { openTarget, type Target, type TargetRequest } from './target.ts'
import { WIRES } from './wires.ts'

/** What calls cost besides time. */
export interface Costs {
  /** Of a core, while the server is idle; undefined where it cannot be measured. */
  idleShare: number | undefined
  diskBytes: number
  sentBytes: number
}

/** One project with many calls. Peaks are undefined where they cannot be measured. */
export interface Size extends Times, Costs {
  calls: number
  importPeakMib: number
  readPeakMib: number
  taken: Imported
}

/** A long trace, streamed; milliseconds. */
export interface LongTrace {
  calls: number
  bytes: number
  /** The same trace again and again. */
  heddleMs: number
  /** Others, each for the first time. */
  otherMs: number
  /** The same bytes from a server that has nothing else to do. */
  bareMs: number
}

export const SMALL = 100_000
export const LARGE = 1_000_000

const LONG_TRACE = 30_000

/** One question that is repeated, and some that are asked once. */
const LONG_TRACES = 6

/** Background work of the last requests is done by then. */
const SETTLE_MS = 20_000
const IDLE_MS = 20_000

/** One project with this many calls: times, memory, disk, and the cost of an idle server. */
export async function measureSize(calls: number): Promise<Size> {
  const server = await startServer('Heddle')
  try {
    const wire = WIRES.complete
    using memory = watchMemory(server.pid)
    const taken = await importCalls(server, wire, { calls })
    const importPeakMib = memory.takePeakMib()
    const asked = await askAll(server, wire.questions(taken.asked, calls, {}))
    return {
      calls,
      ...asked,
      importPeakMib,
      readPeakMib: memory.takePeakMib(),
      ...(await costs(server, taken)),
      taken,
    }
  } finally {
    await server.stop()
  }
}

/** The share of a core that an idle server takes, and its bytes on disk beside those that were sent. */
export async function costs(server: BenchServer, { sentBytes }: Imported): Promise<Costs> {
  await new Promise((wake) => setTimeout(wake, SETTLE_MS))
  const idleShare = await coreShare(server.pid, IDLE_MS)
  return { idleShare, diskBytes: diskBytes(server.folder), sentBytes }
}

/** Streams long traces from Heddle, and the bytes of one from a bare server. */
export async function measureLongTrace(): Promise<LongTrace> {
  const server = await startServer('Heddle')
  try {
    const wire = WIRES.complete
    const { asked } = await importCalls(server, wire, {
      calls: LONG_TRACE * LONG_TRACES,
      callsPerTrace: LONG_TRACE,
      ask: Array.from({ length: LONG_TRACES }, (_, trace) => trace * LONG_TRACE),
    })
    const [again, ...others] = asked.flatMap((call) =>
      wire
        .questions([call], LONG_TRACE, {})
        .filter(({ name }) => name === 'one trace')
        .map(({ request }) => request),
    )
    if (again === undefined) throw new Error('There is no question for one trace')
    const target = openTarget(server.url, 1)
    const reply = await target.ask(again)
    const heddleMs = await medianMs(() => drainWhole(target, again, reply.length))
    const otherMs: number[] = []
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

async function bareMs(file: string, request: TargetRequest, bytes: number): Promise<number> {
  const program = join(import.meta.dirname, 'bare-server.ts')
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill())
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  const target = openTarget(String(url), 1)
  try {
    return await medianMs(() => drainWhole(target, request, bytes))
  } finally {
    await target.close()
    child.kill()
  }
}

async function drainWhole(target: Target, request: TargetRequest, bytes: number): Promise<void> {
  const read = await target.drain(request)
  if (read !== bytes) throw new Error(`${read} bytes were streamed, not ${bytes}`)
}
