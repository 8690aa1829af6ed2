/**
 * What it costs, and gives, to have the stores elsewhere: the same calls and questions to Heddle with a database of its
 * own, with one elsewhere, and with all stores elsewhere in one server and in two, and to weave's own server. All that
 * is elsewhere is the same ClickHouse, PostgreSQL and SeaweedFS, on the same processors. In turns, each in a database
 * of its own.
 */
import { parseArgs } from 'node:util'
import { newId } from '../src/ids.ts'
import { createPostgresDatabase } from '../src/stores/control-db/test-postgres-database.ts'
import { startTestClickHouse } from '../src/stores/trace-db/elsewhere/test-server.ts'
import { startPostgres } from '../tests/cluster/postgres.ts'
import { S3_CREDENTIALS, startSeaweedFs } from '../tests/cluster/seaweedfs.ts'
import { writeResults } from './results-file.ts'
import { median } from './statistics.ts'
import { askAll } from './traces/measure.ts'
import { tableText } from './traces/report.ts'
import { type BenchServer, type ServerName, startServer } from './traces/servers.ts'
import { openTarget } from './traces/target.ts'
import { WIRES } from './traces/wires.ts'
import { batchesOf, makeCalls, type WorkCall } from './traces/workload.ts'

/** Where the stores of a round are. */
interface Places {
  clickhouse: string
  postgres: string
  s3: string
  endpoint: string
}

/** What is measured: servers over the same stores. */
interface Kind {
  name: string
  server: ServerName
  count: number
  settings: (places: Places) => Record<string, string>
}

/** What one kind did in one round. */
interface Measured {
  kind: string
  callsPerSecond: number
  /** Milliseconds by question, each asked once. */
  ms: Record<string, number>
}

/** Two kinds whose ratio has a goal: of calls per second, and how many times as fast every read is. */
interface Goal {
  kind: string
  beside: string
  calls: number
  reads: number | undefined
}

const BATCH_CALLS = 100
const CONNECTIONS = 4

/** Each asks every question once more. */
const ASKED = 10

const KINDS: readonly Kind[] = [
  { name: 'embedded', server: 'Heddle', count: 1, settings: () => ({}) },
  {
    name: 'database elsewhere',
    server: 'Heddle',
    count: 1,
    settings: ({ clickhouse }) => ({ HEDDLE_CLICKHOUSE_URL: clickhouse }),
  },
  { name: 'all elsewhere', server: 'Heddle', count: 1, settings: elsewhere },
  { name: 'two servers', server: 'Heddle', count: 2, settings: elsewhere },
  {
    name: "weave's server",
    server: 'ClickHouse server',
    count: 1,
    settings: ({ clickhouse }) => ({ CLICKHOUSE_URL: clickhouse }),
  },
]

const GOALS: readonly Goal[] = [
  { kind: 'database elsewhere', beside: 'embedded', calls: 0.8, reads: 0.8 },
  { kind: 'two servers', beside: 'all elsewhere', calls: 1, reads: undefined },
  { kind: 'all elsewhere', beside: "weave's server", calls: 3, reads: 1.5 },
]

function elsewhere({ clickhouse, postgres, s3, endpoint }: Places): Record<string, string> {
  return {
    HEDDLE_SERVERS: 'several',
    HEDDLE_SECRET_KEY: 'benchmark'.repeat(5),
    HEDDLE_CLICKHOUSE_URL: clickhouse,
    HEDDLE_POSTGRES_URL: postgres,
    HEDDLE_S3_URL: s3,
    HEDDLE_S3_ENDPOINT: endpoint,
    ...S3_CREDENTIALS,
  }
}

async function main(): Promise<void> {
  const { values: given } = parseArgs({
    options: {
      calls: { type: 'string', default: '20000' },
      rounds: { type: 'string', default: '5' },
      json: { type: 'string' },
    },
  })
  const calls = Number(given.calls)
  if (!(Number.isInteger(calls) && calls >= 8000 && calls % BATCH_CALLS === 0))
    throw new Error(`--calls takes hundreds from 8000 on`)
  await using clickhouse = await startTestClickHouse()
  await using postgres = await startPostgres()
  await using s3 = await startSeaweedFs()
  const measured: Measured[] = []
  for (let round = 0; round < Number(given.rounds); round++)
    for (const kind of KINDS) {
      const own = newId().replaceAll('-', '')
      const places = {
        clickhouse: clickhouse.url(`bench_${own}`),
        postgres: await createPostgresDatabase(postgres.url, { name: `bench_${own}` }),
        s3: `s3://${s3.bucket}/${own}`,
        endpoint: s3.endpoint,
      }
      measured.push(await measure(kind, places, calls))
    }
  show(measured)
  writeResults(given.json, { calls, measured })
}

async function measure(
  { name, server, count, settings }: Kind,
  places: Places,
  calls: number,
): Promise<Measured> {
  const servers: BenchServer[] = []
  try {
    // One after the other: the first one makes the tables.
    while (servers.length < count) servers.push(await startServer(server, undefined, settings(places)))
    const { asked, callsPerSecond } = await importInto(servers, calls)
    const [first] = servers
    if (first === undefined) throw new Error('No server was started')
    const { otherMs } = await askAll(first, WIRES.complete.questions(asked, calls, {}))
    return { kind: name, callsPerSecond, ms: otherMs }
  } finally {
    for (const one of servers) await one.stop()
  }
}

/** Sends calls, a batch to each server in turn, until all can be found. */
async function importInto(
  servers: readonly BenchServer[],
  calls: number,
): Promise<{ asked: WorkCall[]; callsPerSecond: number }> {
  const { complete } = WIRES
  const targets = servers.map(({ url }) => openTarget(url, CONNECTIONS))
  const apart = Math.floor(calls / (2 * ASKED))
  const asked: WorkCall[] = []
  const bodies = Array.from(batchesOf(makeCalls(calls), BATCH_CALLS), (batch) => {
    asked.push(...batch.filter(({ number }) => number % apart === 1).slice(0, ASKED - asked.length))
    return Buffer.from(complete.body(complete.project, batch))
  })
  const next = bodies.entries()
  async function send(): Promise<void> {
    for (const [index, body] of next)
      await targets[index % targets.length]?.ask({ path: complete.path, headers: complete.headers, body })
  }
  const [first] = targets
  if (first === undefined) throw new Error('No server was started')
  try {
    const started = performance.now()
    await Promise.all(Array.from({ length: CONNECTIONS }, send))
    let found: number
    do found = await complete.found(first, {})
    while (found < calls)
    return { asked, callsPerSecond: (1000 * calls) / (performance.now() - started) }
  } finally {
    for (const target of targets) await target.close()
  }
}

function show(measured: readonly Measured[]): void {
  const names = KINDS.map(({ name }) => name)
  const questions = Object.keys(measured[0]?.ms ?? {})
  const of = (kind: string, value: (one: Measured) => number): number[] =>
    measured.filter((one) => one.kind === kind).map(value)
  const spread = (numbers: readonly number[], digits: number): string =>
    `${median(numbers).toFixed(digits)} (${Math.min(...numbers).toFixed(digits)}-${Math.max(...numbers).toFixed(digits)})`
  const row = (what: string, digits: number, value: (one: Measured) => number): string[] => [
    what,
    ...names.map((name) => spread(of(name, value), digits)),
  ]
  const rows = [
    row('calls/s until visible', 0, ({ callsPerSecond }) => callsPerSecond),
    ...questions.map((question) => row(`${question}, ms`, 1, ({ ms }) => ms[question] ?? Number.NaN)),
  ]
  process.stdout.write(`\n${tableText({ head: ['', ...names], rows })}\n`)
  const lines = GOALS.map(({ kind, beside, calls, reads }) => {
    // Of one round each: what the machine does otherwise meets both.
    const ratios = (value: (one: Measured) => number): number[] => {
      const others = of(beside, value)
      return of(kind, value).map((one, round) => one / (others[round] ?? Number.NaN))
    }
    const writes = ratios(({ callsPerSecond }) => callsPerSecond)
    const slowest = questions
      .map((question) => ({ question, times: ratios(({ ms }) => 1 / (ms[question] ?? Number.NaN)) }))
      .sort((one, other) => median(one.times) - median(other.times))[0]
    const ofReads =
      reads === undefined || slowest === undefined
        ? ''
        : `; its slowest read, ${slowest.question}, ${spread(slowest.times, 2)} (goal ${reads})`
    return `${kind} beside ${beside}: calls ${spread(writes, 2)} times (goal ${calls})${ofReads}`
  })
  process.stdout.write(`\n${lines.join('\n')}\n`)
}

await main()
