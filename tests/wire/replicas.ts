import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import pg from 'pg'
import { vi } from 'vitest'
import { z } from 'zod'
import { TEST_SERVERS } from '../cluster/test-servers.ts'
import { TEST_RAY, TestRay } from '../ray/test-ray.ts'

/** Servers tell each other what they have stored once a second; a busy machine takes longer. */
const SOON_MS = 60_000

/** Servers of one installation: each request of a client goes to another one. */
const REPLICAS = 3

const Servers = z.object({
  clickhouse: z.object({ url: z.string() }),
  postgres: z.object({ url: z.string() }),
  s3: z.object({ endpoint: z.string(), bucket: z.string() }),
})

/** Whether this run has several servers, which keep nothing in a data folder. */
export const HAS_REPLICAS = process.env[TEST_SERVERS] !== undefined

/** Runs a check that holds at once where there is one server, and soon where there are several. */
export function soonOnReplicas(check: () => Promise<void>): Promise<void> {
  return HAS_REPLICAS ? vi.waitFor(check, { timeout: SOON_MS }) : check()
}

/** How servers are started in this run. */
export interface Replicas {
  count: number
  /** What they share; empty where a server has its own folder. */
  env: Record<string, string>
  /** The node of Ray whose children their engines are, where they have any: its process. */
  nodes: number[]
}

/**
 * One server with its own folder, or several over new databases and a new prefix of the servers that this run has
 * started (`vitest.replicas.config.ts`); the engines of these are on Ray, where the run has started a cluster.
 * @param own settings of a test: without a Python environment, its servers have no engine
 */
export async function newReplicas(own: Record<string, string>): Promise<Replicas> {
  const given = process.env[TEST_SERVERS]
  if (given === undefined) return { count: 1, env: {}, nodes: [] }
  const stores = await newStores(given)
  const ray = process.env[TEST_RAY]
  if (ray === undefined || !hasEngine(own)) return { count: REPLICAS, env: stores, nodes: [] }
  const { env, pid } = TestRay.parse(JSON.parse(ray))
  return { count: REPLICAS, env: { ...stores, ...env }, nodes: [pid] }
}

function hasEngine({ HEDDLE_CACHE: cache, HEDDLE_ENGINE_PYTHON: python }: Record<string, string>): boolean {
  return cache === undefined && (python === undefined || existsSync(python))
}

/** Settings of servers that share new stores. */
async function newStores(given: string): Promise<Record<string, string>> {
  const servers = Servers.parse(JSON.parse(given))
  const name = `wire_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(servers.postgres.url)
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`)
  await client.end()
  const postgres = new URL(servers.postgres.url)
  postgres.pathname = name
  return {
    HEDDLE_SERVERS: 'several',
    HEDDLE_SECRET_KEY: randomBytes(32).toString('hex'),
    HEDDLE_CLICKHOUSE_URL: `${servers.clickhouse.url}/${name}`,
    HEDDLE_POSTGRES_URL: postgres.href,
    HEDDLE_S3_URL: `s3://${servers.s3.bucket}/${name}`,
    HEDDLE_S3_ENDPOINT: servers.s3.endpoint,
  }
}
