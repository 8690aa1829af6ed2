import type { TestProject } from 'vitest/node'
import { startTestClickHouse } from '../../src/stores/trace-db/elsewhere/test-server.ts'
import { startPostgres } from './postgres.ts'
import { startSeaweedFs } from './seaweedfs.ts'
import { TEST_SERVERS } from './test-servers.ts'

/** Starts the servers that hold the stores of all tests of a run, and ends them after it. */
export default async function startServers({ provide }: TestProject): Promise<() => Promise<void>> {
  await using starting = new AsyncDisposableStack()
  const clickhouse = starting.use(await startTestClickHouse())
  const postgres = starting.use(await startPostgres())
  const { endpoint, bucket } = starting.use(await startSeaweedFs())
  const url = clickhouse.url('').replace(/\/$/, '')
  const servers = { clickhouse: { url }, postgres: { url: postgres.url }, s3: { endpoint, bucket } }
  provide('servers', servers)
  // Inherited by the processes that run tests.
  process.env[TEST_SERVERS] = JSON.stringify(servers)
  const started = starting.move()
  return () => started.disposeAsync()
}
