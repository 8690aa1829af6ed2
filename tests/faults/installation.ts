import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kill } from 'node:process'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, type OwnServer, startServer } from '../../scripts/own-server.ts'
import { ensureServer } from '../../scripts/server-build.ts'
import { startTestClickHouse } from '../../src/stores/trace-db/elsewhere/test-server.ts'
import { startTestNetwork, type TestNetwork } from '../../src/test-network.ts'
import { startPostgres } from '../cluster/postgres.ts'
import { startRedis } from '../cluster/redis.ts'
import { startRoundRobin } from '../cluster/round-robin.ts'
import { S3_CREDENTIALS, startSeaweedFs } from '../cluster/seaweedfs.ts'

/** A part of an installation that can be killed, or a network that can fail. */
export interface Victim {
  name: string
  /** Makes it fail. */
  kill(): Promise<void>
  /** Brings it back. */
  start(): Promise<void>
}

/** Several servers behind one address over stores of their own; disposal removes all. */
export interface Installation extends AsyncDisposable {
  url: string
  victims: Victim[]
}

/** What was erased leaves the disk in a second, in place of the eight minutes of ClickHouse's default. */
const CLEANUP = `<merge_tree><old_parts_lifetime>1</old_parts_lifetime>
  <cleanup_delay_period>1</cleanup_delay_period><max_cleanup_delay_period>2</max_cleanup_delay_period></merge_tree>`

/**
 * What a request takes on a slow network: long beside what is usual, and short beside the time after which a store is
 * away.
 */
const SLOW_MS = 300

/** Settings of a server without an engine, which would take memory and time. */
export const NO_ENGINE = { HEDDLE_CACHE: join(tmpdir(), 'heddle-no-environments') }

/** @param own settings of each server */
export async function startInstallation(own: readonly NodeJS.ProcessEnv[]): Promise<Installation> {
  await using starting = new AsyncDisposableStack()
  const clickhouse = starting.use(await startTestClickHouse({ config: CLEANUP }))
  const postgres = starting.use(await startPostgres())
  const s3 = starting.use(await startSeaweedFs())
  const redis = starting.use(await startRedis())
  const networks = {
    ClickHouse: starting.use(await startTestNetwork(clickhouse.port)),
    PostgreSQL: starting.use(await startTestNetwork(Number(new URL(postgres.url).port))),
    S3: starting.use(await startTestNetwork(Number(new URL(s3.endpoint).port))),
    Redis: starting.use(await startTestNetwork(redis.port)),
  }
  const through = (url: string, { port }: TestNetwork): string => url.replace(/:\d+(?=\/|$)/, `:${port}`)
  const shared = {
    ...S3_CREDENTIALS,
    HEDDLE_SERVERS: 'several',
    HEDDLE_SECRET_KEY: randomBytes(32).toString('hex'),
    HEDDLE_CLICKHOUSE_URL: through(clickhouse.url('faults'), networks.ClickHouse),
    HEDDLE_POSTGRES_URL: through(postgres.url, networks.PostgreSQL),
    HEDDLE_REDIS_URL: through(redis.url, networks.Redis),
    HEDDLE_S3_URL: `s3://${s3.bucket}/faults`,
    HEDDLE_S3_ENDPOINT: through(s3.endpoint, networks.S3),
  }
  const servers = await Promise.all(
    own.map(async (settings, index) =>
      starting.use(await startReplica(`server ${index}`, { ...shared, ...settings })),
    ),
  )
  const balancer = starting.use(await startRoundRobin(() => servers.map(({ url }) => url)))
  const victims: Victim[] = [
    ...servers,
    { name: 'ClickHouse', kill: () => clickhouse.kill(), start: () => clickhouse.start() },
    { name: 'PostgreSQL', kill: () => postgres.kill(), start: () => postgres.start() },
    { name: 'S3', kill: () => s3.kill(), start: () => s3.start() },
    { name: 'Redis', kill: () => redis.kill(), start: () => redis.start() },
    ...Object.entries(networks).flatMap(([name, network]) => faultsOf(name, network)),
  ]
  const started = starting.move()
  return { url: balancer.url, victims, [Symbol.asyncDispose]: () => started.disposeAsync() }
}

function faultsOf(store: string, network: TestNetwork): Victim[] {
  const name = `the network to ${store}`
  return [
    {
      name: `${name}, which passes nothing on,`,
      kill: async () => network.hang(true),
      start: async () => network.hang(false),
    },
    {
      name: `${name}, which closes every connection,`,
      kill: async () => network.break(true),
      start: async () => network.break(false),
    },
    {
      name: `${name}, which is slow,`,
      kill: async () => network.slow(SLOW_MS),
      start: async () => network.slow(0),
    },
  ]
}

await ensureServer()

async function startReplica(
  name: string,
  settings: NodeJS.ProcessEnv,
): Promise<Victim & AsyncDisposable & { url: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-replica-'))
  const port = await freePort()
  let server: OwnServer

  async function start(): Promise<void> {
    server = startServer({ port, data: join(folder, 'data'), env: settings })
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
