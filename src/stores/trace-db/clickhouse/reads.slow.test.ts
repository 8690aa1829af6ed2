import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SILENT } from '../../../test-log.ts'
import { openEmbedded } from '../embedded/embedded.ts'
import { firstOf, rowsOf, type TraceDb } from '../port.ts'

/** The time limit of reads here: longer than any read of these tests takes while the machine is busy. */
const READ_MS_MAX = 120_000

/** How long tests wait for the end of a query. */
const ENDED = { timeout: 60_000 }

let db: TraceDb

beforeAll(async () => {
  db = await openFor(READ_MS_MAX)
})
afterAll(() => db[Symbol.asyncDispose]())

async function openFor(readMsMax: number): Promise<TraceDb> {
  return openEmbedded(await mkdtemp(join(tmpdir(), 'heddle-reads-')), SILENT, { readMsMax })
}

/** A query of some hours, in blocks of `blockMs`, which ClickHouse's time limit does not end. */
function endless(project: string, { blockMs }: { blockMs: number }) {
  const rows = blockMs / 2
  return {
    sql: `SELECT number, sleepEachRow(0.002) FROM numbers(100000000) WHERE {project_id:String} != ''
      SETTINGS max_block_size = ${rows}, max_execution_time = 0, function_sleep_max_microseconds_per_block = 0`,
    params: { project_id: project },
  }
}

/** The first row of a query that is then left. */
async function leftAfterRow(rows: AsyncIterable<unknown>): Promise<unknown> {
  for await (const row of rows) return row
}

async function queriesOf(project: string, asked = db): Promise<number> {
  const sql = `SELECT count() AS count FROM system.processes
    WHERE query LIKE {like:String} AND query NOT LIKE '%system.processes%'`
  const row = await firstOf(asked.query<{ count: number }>({ sql, params: { like: `%${project}%` } }))
  return row?.count ?? -1
}

describe('a read of the trace database', () => {
  it('is ended when its client disconnects, without waiting for its current block', async () => {
    const client = new AbortController()
    const read = rowsOf(db.query(endless('gone', { blockMs: 2_000 }), client.signal))
    await expect.poll(() => queriesOf('gone'), ENDED).toBe(1)
    client.abort(new Error('gone'))
    await expect(read).rejects.toThrow('gone')
    await expect.poll(() => queriesOf('gone'), ENDED).toBe(0)
  })

  it('is ended when its reader stops, and does not delay others until then', async () => {
    expect(await leftAfterRow(db.query(endless('first', { blockMs: 2_000 })))).toMatchObject({ number: 0 })
    await expect.poll(() => queriesOf('first'), ENDED).toBe(0)
  })

  it('is not ended by the kill of the query before it', async () => {
    // They may end at about the time at which they are killed.
    const rows = (count: number) => ({
      sql: `SELECT number, sleepEachRow(0.001) FROM numbers(${count}) SETTINGS max_block_size = 1`,
      params: {},
    })
    for (let count = 2; count < 30; count++) {
      await Promise.all(Array.from({ length: 6 }, () => leftAfterRow(db.query(rows(count)))))
      const whole = Array.from({ length: 3 }, () => rowsOf(db.query(rows(5))))
      for (const read of await Promise.all(whole)) expect(read).toHaveLength(5)
    }
    // Some 250 reads, of which 170 are killed: seconds, and a minute on a machine with much other work.
  })

  it('503 with a reason, and is ended, when it takes too long', async () => {
    await using limited = await openFor(2_000)
    const read = rowsOf(limited.query(endless('long', { blockMs: 200 })))
    await expect(read).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('took too long'),
    })
    await expect.poll(() => queriesOf('long', limited), ENDED).toBe(0)
  })

  it('is answered while another project has more to read than there are readers', async () => {
    const clients = new AbortController()
    const flood = Array.from({ length: 20 }, () =>
      expect(rowsOf(db.query(endless('flood', { blockMs: 100 }), clients.signal))).rejects.toThrow('gone'),
    )
    await expect.poll(() => queriesOf('flood'), ENDED).toBe(3)
    const sql = 'SELECT {project_id:String} AS project'
    for (let times = 0; times < 10; times++) {
      const read = db.query({ sql, params: { project_id: 'quiet' } })
      expect(await rowsOf(read)).toEqual([{ project: 'quiet' }])
    }
    expect(await queriesOf('flood')).toBe(3)
    clients.abort(new Error('gone'))
    await Promise.all(flood)
    await expect.poll(() => queriesOf('flood'), ENDED).toBe(0)
  })

  it.each([
    ['parts', Array.from({ length: 30_000 }, () => '1').join(' + ')],
    ['levels', `${'('.repeat(5_000)}1${')'.repeat(5_000)}`],
    ['characters', `'${'x'.repeat(3_000_000)}'`],
  ])('400 with a reason for a query of too many %s', async (_, sql) => {
    const read = rowsOf(db.query({ sql: `SELECT ${sql}`, params: {} }))
    await expect(read).rejects.toMatchObject({ status: 400, message: expect.stringContaining('too complex') })
  })

  it('400 with a reason for a query that needs more memory than one may have', async () => {
    const sql = 'SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 10000000'
    const read = rowsOf(db.query({ sql, params: {} }))
    await expect(read).rejects.toMatchObject({ status: 400, message: expect.stringContaining('more memory') })
  })
})
