import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { eventually } from '../../../test-eventually.ts'
import { startServer } from '../embedded/server-process.ts'
import { buildDeferredIndexes, type DeferredIndexes } from './deferred-indexes.ts'
import { type Requests, requestsTo, type Server } from './server.ts'

/** Above the least number of rows for which an index is built. */
const ROWS = 30_000

let server: Server
let requests: Requests
const log = { warn: vi.fn() }

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-indexes-'))
  server = await startServer(join(folder, 'trace-db'), { error: vi.fn() }, undefined)
  requests = requestsTo(server)
  await requests.run(`CREATE TABLE notes (id UInt64, text String,
      INDEX inputs_words lower(text) TYPE text(tokenizer = splitByNonAlpha))
    ENGINE = MergeTree ORDER BY id SETTINGS exclude_materialize_skip_indexes_on_merge = 'inputs_words'`)
})
afterAll(() => server[Symbol.asyncDispose]())

const write = (rows: number): Promise<void> =>
  requests.run(`INSERT INTO notes SELECT number, concat('note ', toString(number)) FROM numbers(${rows})`)

/** Rows that a search for a word that there is not reads. */
async function rowsScanned(): Promise<number> {
  const sql = `EXPLAIN ESTIMATE SELECT 1 FROM notes WHERE lower(text) LIKE '%absent%'`
  return (await requests.rows<{ rows: number }>(sql))[0]?.rows ?? 0
}

/** Looks until it is known that no rows arrive. Returns what a search for whole words runs with then. */
async function lookTwice(): Promise<object> {
  const indexes = buildDeferredIndexes({ log, requests })
  await indexes.check()
  await indexes.check()
  await indexes.stop()
  return settingsOf(indexes)
}

function settingsOf({ readSettings }: DeferredIndexes): object {
  expect(readSettings(`SELECT 1 FROM notes WHERE lower(text) LIKE '%note%'`)).toEqual({})
  return readSettings(`SELECT 1 FROM notes WHERE hasAllTokens(lower(text), ['note'])`)
}

it('inserts and merges leave an index out, and it is built of what has settled', async () => {
  const indexes = buildDeferredIndexes({ log, requests })
  await write(ROWS)
  // How many rows arrive is not known yet, and then they do.
  await indexes.check()
  await write(ROWS)
  await indexes.check()
  expect(await rowsScanned()).toBe(2 * ROWS)
  // Nor after a pause of one check.
  await indexes.check()
  expect(await rowsScanned()).toBe(2 * ROWS)
  await indexes.check()
  await indexes.stop()
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  await write(10)
  expect(await rowsScanned()).toBe(10)
  await lookTwice()
  expect(await rowsScanned()).toBe(10)
  await requests.run('OPTIMIZE TABLE notes FINAL')
  expect(await rowsScanned()).toBe(2 * ROWS + 10)
  await lookTwice()
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  expect(log.warn).not.toHaveBeenCalled()
})

it('is built again after rows that came during a build, and soon after a merge that dropped it', async () => {
  await requests.run('TRUNCATE TABLE notes')
  await write(ROWS)
  const indexes = buildDeferredIndexes({ log, requests })
  await indexes.check()
  await indexes.check()
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  await write(2 * ROWS)
  await indexes.check()
  await indexes.check()
  await indexes.check()
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  await requests.run('OPTIMIZE TABLE notes FINAL')
  vi.useFakeTimers({ toFake: ['performance'], now: performance.now() })
  try {
    await indexes.check()
    expect(await rowsScanned()).toBe(3 * ROWS)
    // Half a millisecond for each row of the build whose index was dropped.
    vi.advanceTimersByTime(ROWS)
    await indexes.check()
  } finally {
    vi.useRealTimers()
  }
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  await indexes.stop()
})

it('a failure is logged, and the next check is made', async () => {
  const { check, stop } = buildDeferredIndexes({
    log,
    requests: { run: requests.run, rows: () => Promise.reject(new Error('Code: 36')) },
  })
  await check()
  await stop()
  expect(log.warn.mock.calls).toEqual([
    [{ reason: 'Code: 36' }, 'indexes of the trace database were not built'],
  ])
})

it('whole words are read from the index directly while few rows lack it', async () => {
  const lookOnce = async (): Promise<object> => {
    const indexes = buildDeferredIndexes({ log, requests })
    await indexes.check()
    await indexes.stop()
    return settingsOf(indexes)
  }
  await requests.run('TRUNCATE TABLE notes')
  expect(await lookOnce()).toEqual({})
  await write(ROWS)
  expect(await lookTwice()).toEqual({ query_plan_direct_read_from_text_index: 0 })
  await eventually(async () => expect(await rowsScanned()).toBe(0))
  await write(ROWS / 20)
  expect(await lookOnce()).toEqual({})
  await write(ROWS / 10)
  expect(await lookOnce()).toEqual({ query_plan_direct_read_from_text_index: 0 })
})
