import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { KEY, startServer, type WireServer } from './server.ts'
import { TRAINER_ALONE } from './trainer-alone.ts'
import { trainingClient, trajectory } from './training-client.ts'
import { until } from './until.ts'

const MEGABYTE = 1024 * 1024

/** Large enough to fill every buffer whose size does not depend on the job: a write of calls, and a merge of them. */
const SMALL_BYTES = 100 * MEGABYTE
const LARGE_BYTES = 300 * MEGABYTE

/** Less than the large job's additional bytes, and more than the variation of garbage collection. */
const GROWTH_BYTES_MAX = 180 * MEGABYTE

/** A server that kept the large job's texts in memory would exceed this. */
const HEAP_MEGABYTES = 192

let server: WireServer

beforeAll(async () => {
  server = await startServer({
    ...TRAINER_ALONE,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MEGABYTES}`,
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const { call, newModel, end } = trainingClient(() => server)

/** The most memory that the server has ever held, or any of several. */
function peakBytes(): number {
  const peaks = server
    .processes(SERVER_PROGRAM)
    .map((pid) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  return Math.max(...peaks.map(Number)) * 1024
}

/** Sends a job of this size, and waits until it is over and its trajectories are calls. */
async function run(bytes: number): Promise<void> {
  const project = `large-${bytes}`
  const model = await newModel({ project })
  // Equal rewards: all groups are read, and none is trained on.
  const group = JSON.stringify({
    trajectories: [0, 0].map((reward) => trajectory(reward, { tokens: 10_000 })),
  })
  const count = Math.ceil(bytes / group.length)
  async function* body() {
    yield Buffer.from(`{"model_id": "${model.id}", "trajectory_groups": [${group}`)
    for (let index = 1; index < count; index++) yield Buffer.from(`,${group}`)
    yield Buffer.from(']}')
  }
  const response = await fetch(`${server.url}/v1/preview/training-jobs`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: ReadableStream.from(body()),
    duplex: 'half',
  } as RequestInit)
  const job = (await response.json()) as { id: string; counts: Record<string, number> }
  expect(response.status).toBe(200)
  expect(job.counts).toMatchObject({ groups: count, trajectories: 2 * count })
  expect((await end(job.id)).type).toBe('training_ended')
  await until(async () => {
    const stats = await call<{ count: number }>('POST', '/calls/query_stats', {
      project_id: `local/${project}`,
    })
    return stats.count === 2 * count ? true : undefined
  })
}

it('a job of 300 MB is read, trained on and shown as calls in about the memory of one of 100 MB', async () => {
  await run(SMALL_BYTES)
  const before = peakBytes()
  await run(LARGE_BYTES)
  expect(peakBytes() - before).toBeLessThan(GROWTH_BYTES_MAX)
})
