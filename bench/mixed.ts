/**
 * Reads while calls come in, as on a team's server: two writers send a steady number of calls a second, and readers ask
 * something new each time, first a steady number of questions a second and then as many as they can. Beside weave's own
 * server on ClickHouse, in turns, each on an idle machine.
 */
import { parseArgs } from 'node:util'
import { JSON_HEADERS } from '../scripts/own-server.ts'
import { namesIn } from './names-in.ts'
import { writeResults } from './results-file.ts'
import { percentile, spread } from './statistics.ts'
import { coreShare } from './traces/process-cost.ts'
import { type Question, questions } from './traces/questions.ts'
import { type BenchServer, type ServerName, startServer } from './traces/servers.ts'
import { BATCH_CALLS, pause, randomOf, WRITERS, writeCalls, writeSteadily } from './traces/steady-writers.ts'
import { openTarget } from './traces/target.ts'
import { batchesOf, makeCalls, type WorkCall } from './traces/workload.ts'

const SERVERS: readonly ServerName[] = ['Heddle', 'Before', 'ClickHouse']
const PROJECT = 'bench/mixed'

const READERS = 8

/** Each number makes another page of the newest calls; beyond this many pages there are too few. */
const PAGES = 40

/** Between two requests of what a load balancer asks. */
const HEALTH_EVERY_MS = 20

const ASKED = [
  'newest 50',
  'newest 50 roots',
  'newest 50 of one op',
  'one trace',
  'JSON filter',
  'text search',
  'read by id',
  'count with a filter',
] as const

interface Load {
  seconds: number
  /** Calls a second that the writers send. */
  rate: number
  /** Questions a second that are asked in all; 0 for as many as the readers can. */
  asked: number
}

/** What one server did under one load; times in milliseconds. */
interface Measured {
  server: ServerName
  asked: number
  writesPerSecond: number
  readsPerSecond: number
  failed: number
  /** Of its processes together. */
  cores: number | undefined
  writes: number[]
  reads: Record<string, number[]>
  health: number[]
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string', default: '20000' },
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '1000' },
      asked: { type: 'string', default: '20' },
      only: { type: 'string', default: 'heddle,clickhouse' },
      json: { type: 'string' },
    },
  })
  const names = namesIn('only', values.only, SERVERS)
  const [seconds, rate] = [Number(values.seconds), Number(values.rate)]
  const measured: Measured[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const name of names) {
      const server = await startServer(name)
      try {
        const stored = await fill(server, Number(values.calls))
        for (const asked of [Number(values.asked), 0])
          measured.push(await measure(server, stored, { seconds, rate, asked }))
      } finally {
        await server.stop()
      }
      process.stdout.write(`round ${round + 1}: ${name}\n`)
    }
  }
  show(measured, names)
  writeResults(values.json, { measured })
}

async function fill(server: BenchServer, count: number): Promise<WorkCall[]> {
  const target = openTarget(server.url, WRITERS)
  const calls = [...makeCalls(count)]
  for (const batch of batchesOf(calls, BATCH_CALLS)) await writeCalls(target, PROJECT, batch)
  await target.close()
  return calls
}

async function measure(server: BenchServer, stored: readonly WorkCall[], load: Load): Promise<Measured> {
  const target = openTarget(server.url, WRITERS + READERS + 1)
  const until = performance.now() + load.seconds * 1000
  const reads: Record<string, number[]> = {}
  const health: number[] = []
  let failed = 0
  const timed = async (to: number[], due: number, ask: () => Promise<unknown>): Promise<void> => {
    await ask().then(
      () => to.push(performance.now() - due),
      () => failed++,
    )
  }

  /** A reader that is late counts its waiting. */
  async function reader(): Promise<void> {
    let due = performance.now()
    while (due < until) {
      if (load.asked > 0) due += (-Math.log(Math.random()) * 1000 * READERS) / load.asked
      else due = performance.now()
      await pause(due)
      const [name, { path, body }] = newQuestion(stored)
      reads[name] ??= []
      const question = { path, headers: JSON_HEADERS, body: JSON.stringify(body) }
      await timed(reads[name], due, () => target.drain(question))
    }
  }

  async function probe(): Promise<void> {
    for (let due = performance.now(); due < until; due = performance.now() + HEALTH_EVERY_MS) {
      await pause(due)
      // What no query answers: the server's own thread.
      const path = server.name === 'Heddle' ? '/version' : '/server_info'
      await timed(health, due, () => target.drain({ method: 'GET', path, headers: JSON_HEADERS }))
    }
  }

  const cores = coreShare(server.pid, load.seconds * 1000)
  const [written] = await Promise.all([
    writeSteadily({ target, project: PROJECT, stored, rate: load.rate, until }),
    ...Array.from({ length: READERS }, reader),
    probe(),
  ])
  await target.close()
  return {
    server: server.name,
    asked: load.asked,
    writesPerSecond: (written.tookMs.length * BATCH_CALLS) / load.seconds,
    readsPerSecond: Object.values(reads).flat().length / load.seconds,
    failed: failed + written.failed,
    cores: await cores,
    writes: written.tookMs,
    reads,
    health,
  }
}

function newQuestion(stored: readonly WorkCall[]): [name: string, question: Question] {
  const number = Math.floor(Math.random() * PAGES)
  const name = randomOf(ASKED)
  const question = questions(PROJECT, randomOf(stored), stored.length, number)[name]
  if (question === undefined) throw new Error(`There is no question ${name}`)
  return [name, question]
}

/** Medians over the rounds, with the lowest and the highest. */
function show(measured: readonly Measured[], names: readonly ServerName[]): void {
  for (const asked of new Set(measured.map((one) => one.asked))) {
    const title = asked > 0 ? `${asked} questions a second` : `${READERS} readers as fast as they can`
    process.stdout.write(`\n${title.padEnd(34)}${names.map((name) => name.padEnd(26)).join('')}\n`)
    const row = (label: string, value: (one: Measured) => number, digits = 0): void => {
      const cells = names.map((name) => {
        const values = measured.filter((one) => one.server === name && one.asked === asked).map(value)
        return spread(values, digits).padEnd(26)
      })
      process.stdout.write(`${label.padEnd(34)}${cells.join('')}\n`)
    }
    row('calls written a second', (one) => one.writesPerSecond)
    row('questions answered a second', (one) => one.readsPerSecond, 1)
    row('failed', (one) => one.failed)
    row('cores', (one) => one.cores ?? Number.NaN, 2)
    for (const percent of [50, 95]) {
      row(`writes, p${percent}, ms`, ({ writes }) => percentile(writes, percent))
      row(`all reads, p${percent}, ms`, ({ reads }) => percentile(Object.values(reads).flat(), percent))
    }
    row('GET of the version, p99, ms', ({ health }) => percentile(health, 99))
    for (const name of ASKED)
      for (const percent of [50, 95])
        row(`${name}, p${percent}, ms`, ({ reads }) => percentile(reads[name] ?? [], percent))
  }
}

await main()
