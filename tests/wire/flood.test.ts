import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SERVER_PROGRAM } from '../../scripts/server-build.ts'
import { linesOf } from './crash-writers.ts'
import { createFailingDisk } from './failing-disk.ts'
import { KEY, startServer, type WireServer } from './server.ts'

/** 45 of these are more than the 256 MiB that may wait for the disk, and less than what bodies may hold together. */
const BATCH_BYTES = 8 * 1024 * 1024
const BATCHES = 45
/** Waiting writes are in memory as text, as a body and as rows. */
const RSS_MEGABYTES_MAX = 4_096

const FLOODERS = 16
const FLOOD_BATCH_BYTES = 2 * 1024 * 1024
const ROUNDS = 20
/** A generous bound: a request beside a flood waits for the batch before it, and for at most a few more. */
const SLOWER_MAX = 50
/** A quiet server's time counts as at least this, since the fastest times vary too much to compare with. */
const QUIET_MS_MIN = 200

const disk = createFailingDisk()
let server: WireServer

beforeAll(async () => {
  server = await startServer({ HEDDLE_ENGINE_PYTHON: '/nonexistent/python' }, { launcher: disk.launcher })
})
afterAll(async () => {
  disk.recover()
  await server[Symbol.asyncDispose]()
  disk[Symbol.dispose]()
})

interface Batch {
  ids: string[]
  body: string
}

/** Some calls that have about this many bytes together. */
function batchOf(bytes: number, count = 4): Batch {
  const payload = 'x'.repeat(bytes / count)
  const ids = Array.from({ length: count }, () => randomUUID())
  const at = new Date().toISOString()
  const calls = ids.map((id) => ({
    ...{ id, trace_id: id, op_name: 'op', started_at: at, ended_at: at },
    ...{ attributes: {}, inputs: { payload }, output: 1, summary: {} },
  }))
  return { ids, body: JSON.stringify({ batch: calls }) }
}

async function post(path: string, body: string) {
  const headers = { authorization: `Bearer ${KEY}` }
  const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body })
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    text: await response.text(),
  }
}

const complete = (project: string, batch: Batch) => post(`/v2/${project}/calls/complete`, batch.body)

async function idsOf(project: string): Promise<string[]> {
  const { status, text } = await post(
    '/calls/stream_query',
    JSON.stringify({ project_id: project, columns: ['id'] }),
  )
  expect(status, text.slice(0, 500)).toBe(200)
  return linesOf(text).map(({ id }) => String(id))
}

async function rowsOf(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^heddle_writes_${name}\\{table="calls"\\} (\\d+)$`, 'm').exec(text)?.[1])
}

function rssMegabytes(): number {
  const status = readFileSync(`/proc/${server.processes(SERVER_PROGRAM)[0]}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
}

describe('more writes than the disk takes', () => {
  it('503 with Retry-After for those that have no room, whole or not at all; the others wait, and memory is bounded', async () => {
    const project = 'wire/over-capacity'
    const first = batchOf(1000)
    expect((await complete(project, first)).status).toBe(200)
    disk.fail({ call: 'sync', path: /\/trace-db\//, errno: 'HOLD' })
    const batches = Array.from({ length: BATCHES }, () => batchOf(BATCH_BYTES))
    const answered: number[] = []
    const replies = batches.map(async (batch) => {
      const reply = await complete(project, batch)
      answered.push(reply.status)
      return reply
    })
    await expect.poll(() => answered.length).toBeGreaterThan(0)
    await expect
      .poll(async () => (await rowsOf('pending')) + (await rowsOf('rejected_total')))
      .toBe(BATCHES * 4)
    expect(answered.every((status) => status === 503)).toBe(true)
    expect(await rowsOf('accepted_total')).toBe(
      (await rowsOf('applied_total')) + (await rowsOf('pending')) + (await rowsOf('rejected_total')),
    )
    expect(await idsOf(project)).toHaveLength(first.ids.length)
    const rss = Math.round(rssMegabytes())
    process.stdout.write(`${answered.length} of ${BATCHES} batches of 8 MiB refused at ${rss} MB\n`)
    expect(rss).toBeLessThan(RSS_MEGABYTES_MAX)

    disk.recover()
    const refused: Batch[] = []
    const stored = [...first.ids]
    for (const [index, reply] of (await Promise.all(replies)).entries()) {
      const batch = batches[index]
      if (batch === undefined) continue
      if (reply.status === 200) stored.push(...batch.ids)
      else {
        refused.push(batch)
        expect(reply).toEqual({
          status: 503,
          retryAfter: expect.stringMatching(/^\d+$/),
          text: expect.stringMatching(/^\{"reason":".+"\}$/),
        })
      }
    }
    expect(refused.length).toBeGreaterThan(0)
    expect((await idsOf(project)).sort()).toEqual(stored.sort())
    for (const batch of refused) {
      expect((await complete(project, batch)).status).toBe(200)
      stored.push(...batch.ids)
    }
    expect((await idsOf(project)).sort()).toEqual(stored.sort())
    expect(await rowsOf('pending')).toBe(0)
  })
})

describe("one project's flood of large batches", () => {
  it("does not keep another's small writes and reads from being served", async () => {
    const project = 'wire/quiet'
    const ids: string[] = []
    async function slowestOf(rounds: number): Promise<number> {
      let slowest = 0
      for (let round = 0; round < rounds; round++) {
        const started = performance.now()
        const small = batchOf(100, 1)
        expect((await complete(project, small)).status).toBe(200)
        ids.push(...small.ids)
        expect((await idsOf(project)).sort()).toEqual(ids.sort())
        slowest = Math.max(slowest, performance.now() - started)
      }
      return slowest
    }

    await slowestOf(ROUNDS)
    const quiet = await slowestOf(ROUNDS)
    const flood = { on: true, stored: 0, refused: 0 }
    const flooding = Array.from({ length: FLOODERS }, async () => {
      while (flood.on) {
        const { status } = await complete('wire/flood', batchOf(FLOOD_BATCH_BYTES))
        expect([200, 503]).toContain(status)
        if (status === 200) flood.stored++
        else flood.refused++
      }
    })
    await expect.poll(() => flood.stored).toBeGreaterThan(FLOODERS)
    const before = flood.stored
    let slowest = 0
    let during = 0
    while (during <= FLOODERS) {
      slowest = Math.max(slowest, await slowestOf(ROUNDS))
      during = flood.stored - before
    }
    flood.on = false
    await Promise.all(flooding)
    process.stdout.write(
      `slowest write and read: ${Math.round(quiet)} ms, and ${Math.round(slowest)} ms while ${during} batches of 2 MiB were stored\n`,
    )
    expect(slowest).toBeLessThan(Math.max(quiet, QUIET_MS_MIN) * SLOWER_MAX)
  })
})
