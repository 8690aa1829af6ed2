import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seeded } from '../../src/test-random.ts'
import { linesOf, lossesOf, newSeed, Refused, send, type Write, writersOf } from './crash-writers.ts'
import { KEY, startServer, type WireServer } from './server.ts'
import { until } from './until.ts'

const PROJECT = 'wire/crash'
const ROUNDS = 12
const WRITERS_OF_EACH_KIND = 3
/** The most requests that a round sends before the server is killed: some two seconds of them. */
const ROUND_WRITES_MAX = 400
/** The kill comes at any moment of the work on the last of them. */
const KILL_MS_MAX = 50

/** The same seed makes the same writes and delays; what the machine does meanwhile varies. */
const SEED = Number(process.env['CRASH_SEED'] ?? newSeed())
const random = seeded(SEED)

let server: WireServer

beforeAll(async () => {
  process.stdout.write(`CRASH_SEED=${SEED}\n`)
  server = await startServer({ HEDDLE_ENGINE_PYTHON: '/nonexistent/python' })
})
afterAll(() => server[Symbol.asyncDispose]())

/** Writes until the server has ended; the test records everything that was sent, acknowledged or not. */
async function writeUntilGone(make: () => Write[], sent: Write[]): Promise<void> {
  for (;;) {
    const writes = make()
    // Parts of one call come in any order.
    if (random() < 0.5) writes.reverse()
    sent.push(...writes)
    const results = await Promise.allSettled(writes.map((write) => send(server.url, write)))
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []))
    const refused = errors.find((error) => error instanceof Refused)
    if (refused !== undefined) throw refused
    if (errors.length > 0) return
  }
}

/**
 * Lists all calls until the server has ended. A list that looks complete must have every call that was acknowledged
 * before.
 */
async function readUntilGone(sent: readonly Write[]): Promise<void> {
  for (;;) {
    const before = sent.filter(({ path, reply }) => reply !== undefined && /call|otel/.test(path))
    try {
      const listed = await list(PROJECT)
      if (!listed.ok) throw new Refused(`a list: ${listed.status}`)
      const ids = new Set(linesOf(await listed.text()).map(({ id }) => String(id)))
      expect(callIdsOf(before).filter((id) => !ids.has(id))).toEqual([])
    } catch (error) {
      // The error of fetch for a server that has ended.
      if (error instanceof TypeError) return
      throw error
    }
  }
}

function callIdsOf(writes: readonly Write[]): string[] {
  const facts = writes.flatMap((write) => write.facts(write.reply ?? {}))
  return facts.filter(({ after }) => after === undefined).map(({ key }) => key)
}

function list(project: string): Promise<Response> {
  return fetch(`${server.url}/calls/stream_query`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ project_id: project }),
  })
}

describe('kill -9 at random moments', () => {
  it(`loses nothing acknowledged and doubles nothing, ${ROUNDS} times in a row`, async () => {
    const writers = Object.values(writersOf(PROJECT, random))
    const all: Write[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const sent: Write[] = []
      const working = Promise.all([
        ...Array.from({ length: WRITERS_OF_EACH_KIND }, () =>
          writers.map((make) => writeUntilGone(make, sent)),
        ).flat(),
        readUntilGone(sent),
      ])
      const writes = random() * ROUND_WRITES_MAX
      await until(() => (sent.length >= writes ? true : undefined))
      await new Promise((resolve) => setTimeout(resolve, random() * KILL_MS_MAX))
      await server.signal('SIGKILL')
      await working
      await server.start()
      expect(await lossesOf(server.url, PROJECT, sent), `CRASH_SEED=${SEED}, round ${round}`).toEqual([])

      // A client repeats unacknowledged writes, and may repeat acknowledged ones, now or much later.
      const repeated = [
        ...sent.filter((write) => write.reply === undefined),
        ...all.filter(() => random() < 0.05),
      ]
      for (const write of repeated) await send(server.url, write)
      expect(await lossesOf(server.url, PROJECT, [...sent, ...repeated]), `round ${round}, repeated`).toEqual(
        [],
      )
      all.push(...sent)
    }
    expect(await lossesOf(server.url, PROJECT, all)).toEqual([])
    process.stdout.write(`${all.length} writes in ${ROUNDS} rounds\n`)
  })
})

describe('kill -9 in the middle of a streamed list', () => {
  it('breaks the connection off, so that no client takes a part for the whole; afterwards the list is whole', async () => {
    const project = 'wire/crash-reading'
    const payload = 'x'.repeat(20_000)
    const batches = Array.from({ length: 15 }, () => Array.from({ length: 100 }, () => completeCall(payload)))
    for (const batch of batches)
      await send(server.url, { path: `/v2/${project}/calls/complete`, body: { batch }, facts: () => [] })
    const cut = await list(project)
    const reader = cut.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await server.signal('SIGKILL')
    const readToTheEnd = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(readToTheEnd()).rejects.toThrow()
    await server.start()
    const ids = linesOf(await (await list(project)).text()).map(({ id }) => id)
    expect(ids.sort()).toEqual(batches.flatMap((batch) => batch.map(({ id }) => id)).sort())
  })
})

function completeCall(payload: string) {
  const [id, at] = [randomUUID(), new Date().toISOString()]
  const times = { started_at: at, ended_at: at }
  return {
    id,
    trace_id: id,
    op_name: 'op',
    ...times,
    attributes: {},
    inputs: { payload },
    output: 1,
    summary: {},
  }
}
