/**
 * The trace API under load: the same calls into Heddle and into other servers, each alone on the machine, then the same
 * questions; with `--scale` also Heddle with a hundred thousand and with a million calls.
 */
import { parseArgs } from 'node:util'
import { messageOf } from '../src/errors.ts'
import { namesIn } from './names-in.ts'
import { writeResults } from './results-file.ts'
import {
  costs,
  LARGE,
  type LongTrace,
  measureLongTrace,
  measureSize,
  type Size,
  SMALL,
} from './traces/heddle-alone.ts'
import { askAll, askOnce, countCalls, importCalls } from './traces/measure.ts'
import {
  alone,
  comparison,
  growth,
  type MeasuredCell,
  promises,
  tableText,
  type Way,
} from './traces/report.ts'
import { type BenchServer, type ServerName, startServer } from './traces/servers.ts'
import { untilIdle } from './traces/until-idle.ts'
import { WIRES, type Wire } from './traces/wires.ts'

interface Cell {
  way: Way
  server: ServerName
  wire: keyof typeof WIRES
}

interface Results {
  cells: MeasuredCell[]
  sizes?: Size[]
  longTraces?: LongTrace[]
}

const CALLS = 20_000

/** With fewer calls some questions would have fewer answers than they ask for. */
const CALLS_MIN = 8000

/** Some servers always have something to do. */
const SETTLE_MS_MAX = 600_000

/** Which server is measured by which way in; a server that has it only call by call is left out. */
const CELLS: readonly Cell[] = [
  { way: 'calls/complete', server: 'Heddle', wire: 'complete' },
  { way: 'calls/complete', server: 'Before', wire: 'complete' },
  { way: 'calls/complete', server: 'ClickHouse', wire: 'complete' },
  { way: 'calls/complete', server: 'SQLite', wire: 'complete' },
  { way: 'call/upsert_batch', server: 'Heddle', wire: 'upsert' },
  { way: 'call/upsert_batch', server: 'Before', wire: 'upsert' },
  { way: 'call/upsert_batch', server: 'SQLite', wire: 'upsert' },
  { way: 'OTLP', server: 'Heddle', wire: 'otlp' },
  { way: 'OTLP', server: 'Before', wire: 'otlp' },
  { way: 'OTLP', server: 'Phoenix', wire: 'phoenix' },
  { way: 'OTLP', server: 'MLflow', wire: 'mlflow' },
]
const SERVERS = [...new Set(CELLS.map(({ server }) => server))]
const WAYS = [...new Set(CELLS.map(({ way }) => way))]

const OPTIONS = {
  calls: { type: 'string', default: String(CALLS) },
  settle: { type: 'boolean', default: false },
  scale: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true },
  ways: { type: 'string', multiple: true },
  json: { type: 'string' },
} as const

async function main(): Promise<void> {
  const { values: given } = parseArgs({ options: OPTIONS })
  const calls = Number(given.calls)
  if (!(Number.isInteger(calls) && calls >= CALLS_MIN && calls % 100 === 0))
    throw new Error(`--calls takes hundreds from ${CALLS_MIN} on`)
  const present = SERVERS.filter((name) => name !== 'Before' || process.env.HEDDLE_BENCH_BEFORE !== undefined)
  const servers = namesIn('only', (given.only ?? present).join(), SERVERS)
  const ways = namesIn('ways', (given.ways ?? WAYS).join(), WAYS)
  const results: Results = { cells: [] }
  for (const cell of CELLS.filter(({ server, way }) => servers.includes(server) && ways.includes(way)))
    results.cells.push(
      ...(await unlessItFails(`${cell.server}, ${cell.way}`, () => measureCell(cell, calls, given.settle))),
    )
  if (given.scale) {
    const sizes: Size[] = []
    results.sizes = sizes
    for (const size of [SMALL, LARGE])
      sizes.push(...(await unlessItFails(`${size} calls`, () => measureSize(size))))
    results.longTraces = await unlessItFails('a long trace', measureLongTrace)
  }
  show(results, servers)
  writeResults(given.json, results)
}

/** A list of what a part measured; empty when it failed, because the others are worth their time without it. */
async function unlessItFails<Measured>(what: string, measure: () => Promise<Measured>): Promise<Measured[]> {
  try {
    return [await measure()]
  } catch (error) {
    process.stderr.write(`${what}: ${messageOf(error)}\n`)
    process.exitCode = 1
    return []
  }
}

/** One server by one way in, alone on the machine. */
async function measureCell(
  { way, server: name, wire: wireName }: Cell,
  calls: number,
  settle: boolean,
): Promise<MeasuredCell> {
  const wire: Wire = WIRES[wireName]
  const server = await startServer(name)
  try {
    const taken = await importCalls(server, wire, { calls })
    const questions = way === 'call/upsert_batch' ? [] : wire.questions(taken.asked, calls, taken.prepared)
    if (settle) {
      await untilIdle(server, SETTLE_MS_MAX)
      // The first questions of a kind may have a server build indexes for them.
      await askOnce(server, questions)
      await untilIdle(server, SETTLE_MS_MAX)
    }
    const asked = questions.length > 0 ? await askAll(server, questions) : { ms: {}, otherMs: {} }
    const isHeddle = name === 'Heddle'
    const cost = isHeddle && way === 'calls/complete' ? await costs(server, taken) : undefined
    const kept = isHeddle ? await countAfterKill(server, wire) : undefined
    return { way, server: name, taken, ...asked, cost, kept }
  } finally {
    await server.stop()
  }
}

/** Kills the server without warning and counts what another one finds in its folder. */
async function countAfterKill(server: BenchServer, wire: Wire): Promise<number> {
  await server.kill()
  const again = await startServer(server.name, server.folder)
  try {
    return await countCalls(again, wire)
  } finally {
    await again.stop()
  }
}

function show({ cells, sizes = [], longTraces = [] }: Results, servers: readonly ServerName[]): void {
  const tables = [comparison(cells, servers), promises(cells), growth(sizes), alone(sizes, longTraces)]
  for (const table of tables.filter(({ rows }) => rows.length > 0))
    process.stdout.write(`\n${tableText(table)}\n`)
}

await main()
