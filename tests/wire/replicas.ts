import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { z } from 'zod'
import { TEST_SERVERS } from '../cluster/test-servers.ts'

/** Servers of one installation: each request of a client goes to another one. */
const REPLICAS = 3

const Servers = z.object({
  clickhouse: z.object({ url: z.string() }),
  postgres: z.object({ url: z.string() }),
  s3: z.object({ endpoint: z.string(), bucket: z.string() }),
})

/** How servers are started in this run. */
export interface Replicas {
  count: number
  /** What they share; empty where a server has its own folder. */
  env: Record<string, string>
}

/**
 * One server with its own folder, or several over new databases and a new prefix of the servers that this run has started
 * (`vitest.replicas.config.ts`).
 */
export async function newReplicas(): Promise<Replicas> {
  const given = process.env[TEST_SERVERS]
  if (given === undefined) return { count: 1, env: {} }
  const servers = Servers.parse(JSON.parse(given))
  const name = `wire_${randomUUID().replaceAll('-', '')}`
  const client = new pg.Client(servers.postgres.url)
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'`)
  await client.end()
  const postgres = new URL(servers.postgres.url)
  postgres.pathname = name
  return {
    count: REPLICAS,
    env: {
      HEDDLE_SERVERS: 'several',
      HEDDLE_SECRET_KEY: randomBytes(32).toString('hex'),
      HEDDLE_CLICKHOUSE_URL: `${servers.clickhouse.url}/${name}`,
      HEDDLE_POSTGRES_URL: postgres.href,
      HEDDLE_S3_URL: `s3://${servers.s3.bucket}/${name}`,
      HEDDLE_S3_ENDPOINT: servers.s3.endpoint,
    },
  }
}
