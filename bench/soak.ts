/**
 * Whether the promises hold under everything at once: correct clients, hostile requests, and kills. At the end nothing
 * acknowledged may be missing, correct requests may have failed only by a temporary refusal or a kill, the event loop
 * must never have been blocked, and memory must be back at its earlier level. Ends with status 1 otherwise.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { OwnServer } from '../scripts/own-server.ts'
import { startChild } from './child.ts'
import { writeResults } from './results-file.ts'
import type { GoodOutcome, GoodTask } from './soak/good-clients.ts'
import type { Answers, HostileTask } from './soak/hostile.ts'
import { pause, startAgain } from './soak/restarts.ts'
import { percentile } from './statistics.ts'
import { heldMib } from './traces/process-cost.ts'

/** Tells the processes of the clients that a server is up or down, or to start. */
type TellAll = (task: { kind: 'up'; url: string } | { kind: 'down' | 'start' }) => Promise<unknown>

interface LoopWatch {
  /** Where the server is now; undefined while there is none. */
  look(at: string | undefined): void
  /** What kind of request is being sent from now on. */
  during(kind: string): void
  /** The longest while each kind of request was sent. */
  slowest(): Record<string, number>
  times(): { asked: number; p99Ms: number; maxMs: number }
  stop(): void
}

interface Results extends GoodOutcome {
  minutes: number
  kills: number
  answers: Answers
  version: ReturnType<LoopWatch['times']>
  slowest: Record<string, number>
  /** Before and after the same load again. */
  memoryMib: readonly [before: number, after: number]
}

/** Promised for a machine without other load. */
const VERSION_P99_MS_MAX = 250
const GROWTH_MAX = 0.15

const LOOK_MS = 100

/** A kill, on average after so long; none in the last part, over which memory is compared. */
const KILL_EVERY_MS = 30_000
const WITH_KILLS = 0.5

/** How long the last server runs under full load before its memory is read for the first time. */
const WARM_UP = 0.2

/** Memory is read after this long without requests. */
const SETTLE_MS = 15_000

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { minutes: { type: 'string', default: '10' }, json: { type: 'string' } },
  })
  const ms = Number(values.minutes) * 60_000
  const folder = mkdtempSync(join(tmpdir(), 'heddle-soak-'))
  const good = startChild<GoodTask, GoodOutcome | undefined>(
    new URL('./soak/good-clients.ts', import.meta.url),
  )
  const hostile = startChild<HostileTask, Answers>(new URL('./soak/hostile.ts', import.meta.url))
  const tellAll: TellAll = (task) => Promise.all([good.tell(task), hostile.tell(task)])
  const loop = watchLoop()
  hostile.onNow(loop.during)
  let server: OwnServer | undefined
  try {
    server = await up(folder, tellAll, loop)
    await tellAll({ kind: 'start' })
    const end = performance.now() + ms
    let kills = 0
    for (;;) {
      const wait = KILL_EVERY_MS * (0.5 + Math.random())
      if (performance.now() + wait > end - ms * (1 - WITH_KILLS)) break
      await pause(wait)
      await down(server, tellAll, loop)
      server = await up(folder, tellAll, loop)
      kills++
      process.stdout.write(`\rkilled ${kills} times`)
    }
    process.stdout.write('\n')
    await pause(ms * WARM_UP)
    await hostile.tell({ kind: 'stop' })
    await pause(SETTLE_MS)
    const before = heldMib(server.pid)
    await hostile.tell({ kind: 'start' })
    await pause(Math.max(ms * WARM_UP, end - performance.now()))
    const answers = await hostile.tell({ kind: 'stop' })
    await pause(SETTLE_MS)
    const after = heldMib(server.pid)
    await good.tell({ kind: 'stop' })
    await down(server, tellAll, loop)
    server = await up(folder, tellAll, loop)
    const outcome = await good.tell({ kind: 'verify' })
    if (outcome === undefined) throw new Error('The clients do not say what is missing')
    const results: Results = {
      minutes: Number(values.minutes),
      kills,
      ...outcome,
      answers,
      version: loop.times(),
      slowest: loop.slowest(),
      memoryMib: [before, after],
    }
    show(results)
    writeResults(values.json, results)
  } finally {
    good.kill()
    hostile.kill()
    loop.stop()
    server?.stop()
    await server?.closed
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server over the folder; resolves when it answers and the clients know its address. */
async function up(folder: string, tellAll: TellAll, loop: LoopWatch): Promise<OwnServer> {
  const server = await startAgain(folder)
  loop.look(server.url)
  await tellAll({ kind: 'up', url: server.url })
  return server
}

/** Kills a server like a power switch of its process. */
async function down(server: OwnServer, tellAll: TellAll, loop: LoopWatch): Promise<void> {
  loop.look(undefined)
  await tellAll({ kind: 'down' })
  process.kill(server.pid, 'SIGKILL')
  await server.closed
}

/** Requests `GET /version` repeatedly while there is a server. */
function watchLoop(): LoopWatch {
  const times: number[] = []
  const slowest: Record<string, number> = {}
  let during = 'nothing'
  let url: string | undefined
  let isOn = true
  async function watch(): Promise<void> {
    while (isOn) {
      const asked = url
      const started = performance.now()
      const reply =
        asked &&
        (await fetch(`${asked}/version`)
          .then((got) => got.text())
          .catch(() => undefined))
      if (reply !== undefined && asked !== undefined && asked === url) {
        const took = performance.now() - started
        times.push(took)
        slowest[during] = Math.max(slowest[during] ?? 0, took)
      }
      await pause(LOOK_MS)
    }
  }
  void watch()
  return {
    look(at) {
      url = at
    },
    during(kind) {
      during = kind
    },
    slowest: () => slowest,
    times: () => ({ asked: times.length, p99Ms: percentile(times, 99), maxMs: Math.max(...times) }),
    stop() {
      isOn = false
    },
  }
}

function show({
  minutes,
  kills,
  lost,
  acknowledged,
  counts,
  failures,
  answers,
  version,
  slowest,
  memoryMib,
}: Results): void {
  const [before, after] = memoryMib
  const growth = after / before - 1
  const written = Object.entries(acknowledged)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ')
  const checks: [holds: boolean, text: string, details: string[]][] = [
    [lost.length === 0, `acknowledged and missing: ${lost.length} of ${written}`, lost.slice(0, 10)],
    [
      counts.failed === 0,
      `failed requests of good clients: ${counts.failed} of ${counts.requests} (${counts.refused} refused for now, ${counts.cut} cut by a kill)`,
      failures,
    ],
    [
      version.p99Ms <= VERSION_P99_MS_MAX,
      `GET /version: p99 ${version.p99Ms.toFixed(0)} ms, at most ${version.maxMs.toFixed(0)} ms, of ${version.asked} (p99 wanted: ${VERSION_P99_MS_MAX} ms)`,
      [],
    ],
    [
      growth <= GROWTH_MAX,
      `memory: ${before.toFixed(0)} MiB, and ${after.toFixed(0)} MiB after the same again (${(100 * growth).toFixed(0)} %; allowed: ${100 * GROWTH_MAX} %)`,
      [],
    ],
  ]
  process.stdout.write(
    `${minutes} minutes, ${kills} kills; load of the machine at the end: ${(loadavg()[0] ?? 0).toFixed(1)}\n\n`,
  )
  for (const [holds, text, details] of checks) {
    process.stdout.write(`${holds ? 'holds' : 'FAILS'}  ${text}\n`)
    for (const detail of details) process.stdout.write(`         ${detail}\n`)
  }
  process.stdout.write(
    '\nhostile requests, the longest GET /version meanwhile, and what they were answered:\n',
  )
  for (const [kind, statuses] of Object.entries(answers)) {
    const told = Object.entries(statuses).map(([status, count]) => `${status} × ${count}`)
    const ms = `${(slowest[kind] ?? 0).toFixed(0)} ms`
    process.stdout.write(`  ${kind.padEnd(34)}${ms.padEnd(10)}${told.join(', ')}\n`)
  }
  if (checks.some(([holds]) => !holds)) process.exitCode = 1
}

await main()
