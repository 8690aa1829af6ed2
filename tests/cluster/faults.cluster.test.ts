import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env, kill } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { freePort, KEY, type OwnServer, startServer } from '../../scripts/own-server.ts'
import { startTestClickHouse } from '../../src/stores/trace-db/elsewhere/test-server.ts'
import { startTestNetwork } from '../../src/test-network.ts'
import { seeded } from '../../src/test-random.ts'
import { finishedCall } from '../../src/trace/test-calls.ts'
import { startPostgres } from './postgres.ts'
import { startRoundRobin } from './round-robin.ts'
import { S3_CREDENTIALS, startSeaweedFs } from './seaweedfs.ts'

/** Few in every run; by hand many, as HEDDLE_FAULT_ROUNDS says, and again with the seed of a run that failed. */
const ROUNDS = Number(env['HEDDLE_FAULT_ROUNDS'] ?? 3)
const SEED = Number(env['HEDDLE_FAULT_SEED'] ?? Date.now() % 1_000_000)

const SERVERS = 3
const WRITERS = 3
const BATCH = 5

/** After each request of a client: what is to be checked at the end stays little. */
const PACE_MS = 20
const PROJECT = 'faults/calls'

/** Of each kind, that are acknowledged between two kills, so that each comes in the midst of work. */
const WRITES_BETWEEN_KILLS = 8
const AWAY_MS_MAX = 4_000
const RECOVERY_MS_MAX = 120_000

const Calls = z.array(z.object({ id: z.string() }))

/** What was erased leaves the disk in a second, in place of the eight minutes of ClickHouse's default. */
const CLEANUP = `<merge_tree><old_parts_lifetime>1</old_parts_lifetime>
  <cleanup_delay_period>1</cleanup_delay_period><max_cleanup_delay_period>2</max_cleanup_delay_period></merge_tree>`

/** A part of the installation that can be killed. */
interface Victim {
  name: string
  kill(): Promise<void>
  start(): Promise<void>
}

/** What clients were told is stored. */
interface Acknowledged {
  calls: string[]
  /** Digests and bytes. */
  files: Map<string, string>
  /** Projects and the name of their rule. */
  rules: Map<string, string>
  /** Ids of the receipts of erasures. */
  erasures: string[]
}

it('nothing acknowledged is lost or doubled, and all jobs end, while any part is killed', async () => {
  await using parts = new AsyncDisposableStack()
  const clickhouse = parts.use(await startTestClickHouse({ config: CLEANUP }))
  const postgres = parts.use(await startPostgres())
  const s3 = parts.use(await startSeaweedFs())
  const networks = {
    ClickHouse: parts.use(await startTestNetwork(clickhouse.port)),
    PostgreSQL: parts.use(await startTestNetwork(Number(new URL(postgres.url).port))),
    S3: parts.use(await startTestNetwork(Number(new URL(s3.endpoint).port))),
  }
  const through = (url: string, { port }: { port: number }): string => url.replace(/:\d+(?=\/|$)/, `:${port}`)
  const shared = {
    ...S3_CREDENTIALS,
    HEDDLE_SERVERS: 'several',
    HEDDLE_SECRET_KEY: randomBytes(32).toString('hex'),
    HEDDLE_CLICKHOUSE_URL: through(clickhouse.url('faults'), networks.ClickHouse),
    HEDDLE_POSTGRES_URL: through(postgres.url, networks.PostgreSQL),
    HEDDLE_S3_URL: `s3://${s3.bucket}/faults`,
    HEDDLE_S3_ENDPOINT: through(s3.endpoint, networks.S3),
    // Without Python environments there is no engine, which would take memory and time.
    HEDDLE_CACHE: join(tmpdir(), 'heddle-no-environments'),
  }
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, async (_, index) =>
      parts.use(await startReplica(`server ${index}`, shared)),
    ),
  )
  const balancer = parts.use(await startRoundRobin(() => servers.map(({ url }) => url)))
  const victims: Victim[] = [
    ...servers,
    { name: 'ClickHouse', kill: () => clickhouse.kill(), start: () => clickhouse.start() },
    { name: 'PostgreSQL', kill: () => postgres.kill(), start: () => postgres.start() },
    { name: 'S3', kill: () => s3.kill(), start: () => s3.start() },
    ...Object.entries(networks).map(([name, network]) => ({
      name: `the network to ${name}`,
      kill: async () => network.hang(true),
      start: async () => network.hang(false),
    })),
  ]
  const acknowledged: Acknowledged = { calls: [], files: new Map(), rules: new Map(), erasures: [] }
  const stopping = new AbortController()
  const work = startWork(balancer.url, acknowledged, stopping.signal)

  process.stdout.write(`HEDDLE_FAULT_SEED=${SEED}\n`)
  const random = seeded(SEED)
  const progress = (): number =>
    Math.min(acknowledged.calls.length / BATCH, acknowledged.files.size, acknowledged.rules.size)
  const untilMore = async (): Promise<void> => {
    const from = progress()
    refusals.clear()
    await expect
      .poll(progress, { timeout: RECOVERY_MS_MAX, interval: 50 })
      .toBeGreaterThan(from + WRITES_BETWEEN_KILLS)
      .catch((error: unknown) => {
        throw new Error(`Work does not go on: ${JSON.stringify([...refusals])}`, { cause: error })
      })
  }
  for (let round = 0; round < ROUNDS; round++) {
    await untilMore()
    const victim = victims[Math.floor(random() * victims.length)]
    if (victim === undefined) throw new TypeError('there are victims')
    process.stdout.write(`${victim.name} is killed\n`)
    await victim.kill()
    await delay(random() * AWAY_MS_MAX)
    await victim.start()
    const back = performance.now()
    await untilMore()
    process.stdout.write(
      `${victim.name}: work goes on ${Math.round(performance.now() - back)} ms after it is back\n`,
    )
  }
  stopping.abort()
  await work
  await check(balancer.url, acknowledged)
})

async function startReplica(
  name: string,
  shared: NodeJS.ProcessEnv,
): Promise<Victim & AsyncDisposable & { url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-replica-'))
  const port = await freePort()
  let server: OwnServer

  async function start(): Promise<void> {
    server = startServer({ port, data: join(folder, 'data'), env: shared })
    const isUp = (): Promise<boolean> =>
      fetch(`${server.url}/health`).then(
        () => true,
        () => false,
      )
    while (!(await isUp())) {
      if (server.failure !== undefined) throw new Error(server.failure)
      await delay(100)
    }
  }

  async function end(): Promise<void> {
    kill(server.pid, 'SIGKILL')
    await server.closed
  }

  await start()
  return {
    name,
    url: `http://127.0.0.1:${port}`,
    kill: end,
    start,
    async [Symbol.asyncDispose]() {
      await end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Clients of all kinds, which send again what was refused or had no answer; resolves once they have stopped. */
async function startWork(url: string, acknowledged: Acknowledged, signal: AbortSignal): Promise<void> {
  const send = (method: string, path: string, body: unknown): Promise<unknown> =>
    sendUntilTaken(url, method, path, body)

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await work()
      await delay(PACE_MS)
    }
  }

  async function writeCalls(): Promise<void> {
    const batch = Array.from({ length: BATCH }, () => finishedCall())
    await send('POST', `/v2/${PROJECT}/calls/complete`, { batch })
    acknowledged.calls.push(...batch.map(({ id }) => id))
  }

  async function writeFile(): Promise<void> {
    const bytes = randomUUID().repeat(20)
    const form = new FormData()
    form.set('project_id', PROJECT)
    form.set('file', new File([bytes], 'file'))
    const { digest } = z.object({ digest: z.string() }).parse(await send('POST', '/file/create', form))
    acknowledged.files.set(digest, bytes)
  }

  async function writeRule(): Promise<void> {
    const [project, name] = [`faults/${randomUUID()}`, randomUUID()]
    const rules = [{ name, match: 'pattern', pattern: 'x+', action: 'mask' }]
    await send('PUT', `/v2/${project}/redaction`, { rules })
    acknowledged.rules.set(project, name)
  }

  async function eraseProject(): Promise<void> {
    const project = `faults/${randomUUID()}`
    await send('POST', `/v2/${project}/calls/complete`, { batch: [finishedCall()] })
    const erased = await send('DELETE', `/v2/${project}`, undefined)
    // Where an answer was lost, the second request finds the project gone.
    if (erased !== undefined) acknowledged.erasures.push(z.object({ id: z.string() }).parse(erased).id)
    await delay(1_000)
  }

  const writers = Array.from({ length: WRITERS }, () => repeat(writeCalls))
  await Promise.all([...writers, repeat(writeFile), repeat(writeRule), repeat(eraseProject)])
}

/** The last refusal of each kind of request, to explain why work does not go on. */
const refusals = new Map<string, string>()

/** Resolves with the reply; undefined for 404. @throws Error for another refusal than 503 */
async function sendUntilTaken(url: string, method: string, path: string, body: unknown): Promise<unknown> {
  const content = body instanceof FormData ? body : JSON.stringify(body)
  const headers = { authorization: `Bearer ${KEY}` }
  for (;;) {
    const reply = await fetch(url + path, {
      method,
      headers,
      ...(body !== undefined && { body: content }),
    }).catch(() => undefined)
    const text = await reply?.text().catch(() => undefined)
    if (reply?.ok && text !== undefined) return JSON.parse(text)
    if (reply?.status === 404) return undefined
    refusals.set(
      `${method} ${path.split('/').slice(0, 3).join('/')}`,
      `${reply?.status} ${text?.slice(0, 200)}`,
    )
    if (reply !== undefined && !reply.ok && reply.status !== 503)
      throw new Error(`${path}: ${reply.status} ${text}`)
    await delay(100)
  }
}

async function check(url: string, { calls, files, rules, erasures }: Acknowledged): Promise<void> {
  const list = await fetch(`${url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ project_id: PROJECT, columns: ['id'] }),
  })
  const found = Calls.parse(
    (await list.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  )
  const ids = new Set(found.map(({ id }) => id))
  expect(ids.size).toBe(found.length)
  expect(calls.filter((id) => !ids.has(id))).toEqual([])
  for (const [digest, bytes] of files) {
    const reply = await fetch(`${url}/file/content`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ project_id: PROJECT, digest }),
    })
    expect(await reply.text()).toBe(bytes)
  }
  for (const [project, name] of rules) {
    const reply = await sendUntilTaken(url, 'GET', `/v2/${project}/redaction`, undefined)
    expect(reply).toMatchObject({ rules: [{ name }] })
  }
  const states = async (): Promise<unknown[]> =>
    Promise.all(
      erasures.map(async (id) => {
        const receipt = await sendUntilTaken(url, 'GET', `/v1/accounts/erasures/${id}`, undefined)
        return z.object({ state: z.string() }).parse(receipt).state
      }),
    )
  await expect.poll(states, { timeout: RECOVERY_MS_MAX }).toEqual(erasures.map(() => 'done'))
}
