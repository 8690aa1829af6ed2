import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { StoreFailed } from '../../../errors.ts'
import { eventually } from '../../../test-eventually.ts'
import { startTestNetwork } from '../../../test-network.ts'
import { firstOf } from '../port.ts'
import { openElsewhere } from './elsewhere.ts'
import { startTestClickHouse, type TestClickHouse } from './test-server.ts'

let server: TestClickHouse

beforeAll(async () => {
  server = await startTestClickHouse()
})
afterAll(() => server[Symbol.asyncDispose]())

describe('a server that takes requests and does not answer', () => {
  it('fails those in progress with 503, and further ones at once, until it answers again', async () => {
    await using network = await startTestNetwork(server.port)
    const log = { error: vi.fn(), warn: vi.fn() }
    const url = server.url('hanging').replace(`:${server.port}/`, `:${network.port}/`)
    const limits = { pingEveryMs: 50, answerMsMax: 3_000, awayMsMin: 0 }
    await using db = await openElsewhere({ url }, log, limits)
    await db.command({
      sql: 'CREATE TABLE IF NOT EXISTS notes (id UInt64) ENGINE = MergeTree ORDER BY id',
      params: {},
    })
    network.hang(true)
    const read = firstOf(db.query({ sql: 'SELECT 1 AS one', params: {} }))
    const failing = [expect(db.insert('notes', [{ id: 1 }])), expect(read)]
    await Promise.all(failing.map(({ rejects }) => rejects.toBeInstanceOf(StoreFailed)))
    // Jobs wait for a store that is away, and fail by other errors.
    const further = [
      () => db.insert('notes', [{ id: 2 }]),
      () => db.insertOnce('notes', [{ id: 2 }], 'token'),
      () => db.insertNative('notes', ['id'], noBytes()),
      () => db.command({ sql: 'ALTER TABLE notes DELETE WHERE id = 2', params: {} }),
      () => firstOf(db.query({ sql: 'SELECT 1 AS one', params: {} })),
    ]
    for (const attempt of further) {
      const error: unknown = await attempt().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(StoreFailed)
      expect(error).toMatchObject({ status: 503, retryAfterSeconds: 5 })
      expect(String(error)).toContain('does not answer, so nothing was stored')
    }
    expect(log.error).toHaveBeenCalledWith(
      { url: `http://127.0.0.1:${network.port}`, reason: 'no answer within 3000 ms' },
      expect.stringContaining('requests are refused'),
    )
    network.hang(false)
    await eventually(() => db.insert('notes', [{ id: 3 }]))
    const kept = { sql: 'SELECT groupArray(DISTINCT id) AS ids FROM notes WHERE id = 3', params: {} }
    await eventually(async () => expect(await firstOf(db.query(kept))).toEqual({ ids: [3] }))
  })
})

async function* noBytes(): AsyncGenerator<Uint8Array> {}
