import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ColumnType, firstOf, rowsOf, type TraceDb } from './port.ts'
import { readRowBinary, wholeRows } from './row-binary.ts'
import { wholeLines } from './whole-lines.ts'

/** The tests that every adapter of the trace database must pass. */
export function traceDbContract(open: () => Promise<TraceDb>): void {
  describe('trace db', () => {
    let db: TraceDb

    beforeAll(async () => {
      db = await open()
      await db.command({
        sql: `CREATE TABLE contract (project String, id UInt64, at DateTime64(6, 'UTC'), note Nullable(String))
          ENGINE = ReplacingMergeTree ORDER BY (project, id) SETTINGS fsync_after_insert = 1`,
        params: {},
      })
    })
    afterAll(() => db[Symbol.asyncDispose]())

    const read = (project: string, suffix = '') =>
      db.query<{ id: number; at: string; note: string | null }>({
        sql: `SELECT id, at, note FROM contract FINAL WHERE project = {project:String} ORDER BY id ${suffix}`,
        params: { project },
      })
    const row = (project: string, id: number, note: string | null = null) => ({
      project,
      id,
      note,
      at: '2026-01-02T03:04:05.678901Z',
    })

    it('reads what an insert has acknowledged, with times in ISO 8601', async () => {
      await db.insert('contract', [row('reads', 1, 'ü\n"\\')])
      expect(await rowsOf(read('reads'))).toEqual([
        { id: 1, at: '2026-01-02T03:04:05.678901Z', note: 'ü\n"\\' },
      ])
    })

    it('reads what an insert with a token has acknowledged', async () => {
      await db.insertOnce('contract', [row('token', 1), row('token', 2)], 'one')
      await db.insertOnce('contract', [row('token', 3)], 'two')
      expect((await rowsOf(read('token'))).map(({ id }) => id)).toEqual([1, 2, 3])
      await expect(
        db.insertOnce('contract', [{ ...row('token', 4), at: 'no time' }], 'three'),
      ).rejects.toThrow()
    })

    it('inserts what native returns, exactly', async () => {
      await db.insert('contract', [row('exact', 1, 'ü\n"\\'), row('exact', 2)])
      const columns = ['project', 'id', 'at', 'note']
      const sql = `SELECT 'copy' AS project, id, at, note
        FROM (SELECT id, at, note FROM contract FINAL WHERE project = 'exact')`
      await db.insertNative('contract', columns, db.native({ sql, params: {} }))
      expect(await rowsOf(read('copy'))).toEqual(await rowsOf(read('exact')))
    })

    it('refuses native rows of other columns, and stores none', async () => {
      const sql = `SELECT 'wrong' AS project, 1 AS nothing`
      const inserted = db.insertNative('contract', ['project', 'nothing'], db.native({ sql, params: {} }))
      await expect(inserted).rejects.toThrow('No such column nothing')
      expect(await rowsOf(read('wrong'))).toEqual([])
    })

    it('takes hundreds of writers at once', async () => {
      await Promise.all(Array.from({ length: 300 }, (_, id) => db.insert('contract', [row('many', id)])))
      expect(await rowsOf(read('many'))).toHaveLength(300)
    })

    it('fails only the writer whose row is refused', async () => {
      const results = await Promise.allSettled([
        db.insert('contract', [row('mixed', 1)]),
        db.insert('contract', [row('mixed', 2)]),
        db.insert('contract', [{ ...row('mixed', 3), at: 'no time' }]),
        db.insert('contract', [row('mixed', 4)]),
      ])
      expect(results.map((result) => result.status)).toEqual([
        'fulfilled',
        'fulfilled',
        'rejected',
        'fulfilled',
      ])
      expect((await rowsOf(read('mixed'))).map((found) => found.id)).toEqual([1, 2, 4])
    })

    it('binds values, so that they are never SQL', async () => {
      const value = `'; DROP TABLE contract; -- {x:String} \\`
      const query = {
        sql: 'SELECT {value:String} AS value, {list:Array(String)} AS list',
        params: { value, list: [value] },
      }
      expect(await firstOf(db.query(query))).toEqual({ value, list: [value] })
    })

    it('streams texts after one another, whatever characters they have', async () => {
      const value = `'"\\\n\u0000`
      const query = {
        sql: 'SELECT concat(toString(number), {value:String}) FROM numbers(2)',
        params: { value },
      }
      const pieces = await rowsOf(db.text(query))
      expect(Buffer.concat(pieces).toString()).toBe(`0${value}1${value}`)
    })

    it('streams rows in RowBinary, whose columns have the types that the query names', async () => {
      const values = [
        ['String', `'a'`],
        ['UInt8', 'toUInt8(1)'],
        ['UInt64', 'toUInt64(2)'],
        ['DateTime64(6)', `toDateTime64('1970-01-01 00:00:03.000004', 6, 'UTC')`],
      ] as const
      const columns: ColumnType[] = values.flatMap(([type]) => [type, `Nullable(${type})` as const])
      const selected = values.flatMap(([type, sql]) => [sql, `CAST(${sql}, 'Nullable(${type})')`])
      const absent = values.map(([type]) => `CAST(NULL, 'Nullable(${type})')`)
      const query = {
        sql: `SELECT ${[...selected, ...absent].join(', ')} FROM numbers(3)`,
        params: {},
        columns: [...columns, ...columns.filter((type) => type.startsWith('Nullable'))],
      }
      const pieces = await rowsOf(wholeRows(db, query))
      const rows = pieces.flatMap((piece) => {
        const read = []
        for (const row = readRowBinary(piece); !row.done(); ) {
          const own = [row.text, row.flag, row.count, row.micros]
          const found = own.flatMap<unknown>((value) => [value(), row.nullable<unknown>(value)])
          read.push([...found, ...own.map((value) => row.nullable<unknown>(value))])
        }
        return read
      })
      const row = ['a', 'a', true, true, 2, 2, 3_000_004, 3_000_004, null, null, null, null]
      expect(rows).toEqual([row, row, row])
    })

    it('streams lines', async () => {
      const query = { sql: `SELECT concat(toString(number), '\\n') FROM numbers(100000)`, params: {} }
      const lines = Buffer.concat(await rowsOf(wholeLines(db, query)))
        .toString()
        .split('\n')
      expect([lines.length, lines[0], lines.at(-2), lines.at(-1)]).toEqual([100_001, '0', '99999', ''])
    })

    it('streams: the first rows arrive while later ones are computed, and an early end stops the query', async () => {
      const endless = db.query<{ number: number }>({
        sql: 'SELECT number, sleepEachRow(0.001) FROM numbers(100000000) SETTINGS max_block_size = 10',
        params: {},
      })
      for await (const row of endless) {
        expect(row).toMatchObject({ number: 0 })
        break
      }
      expect(await rowsOf(read('reads'))).toHaveLength(1)
    })

    it('answers more queries at once than it has sessions', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => rowsOf(read('reads'))))
      expect(answers.flat()).toHaveLength(20)
    })

    it('throws the error of a query that fails after its first rows, which have nothing of the error', async () => {
      const sql = `SELECT concat(toString(throwIf(number = 3000000, 'too far')), '\\n') FROM numbers(5000000)`
      const lines = new Set<string>()
      const read = async () => {
        for await (const piece of wholeLines(db, { sql, params: {} }))
          for (const line of piece.toString().split('\n')) lines.add(line)
      }
      await expect(read()).rejects.toMatchObject({
        status: 503,
        cause: expect.objectContaining({ message: expect.stringContaining('too far') }),
      })
      expect(lines).toEqual(new Set(['0', '']))
    })

    it('takes values that are longer than an address, and thousands of them', async () => {
      const long = `'"\\\t\n\r${'é'.repeat(100_000)}`
      const params: Record<string, unknown> = { long, list: [long, 'b'] }
      for (let index = 0; index < 5_000; index++) params[`v${index}`] = `${index}`
      const listed = Object.keys(params).slice(2)
      const sql = `SELECT {long:String} AS long, {list:Array(String)} AS list,
        [${listed.map((name) => `{${name}:String}`).join(', ')}] AS all`
      const all = listed.map((name) => name.slice(1))
      expect(await firstOf(db.query({ sql, params }))).toEqual({ long, list: [long, 'b'], all })
    })

    it('takes commands whose values are longer than an address', async () => {
      await db.insert('contract', [row('long', 1, 'note 1'), row('long', 2, 'kept')])
      const notes = Array.from({ length: 20_000 }, (_, index) => `note ${index}`)
      const sql = `ALTER TABLE contract DELETE WHERE project = 'long' AND note IN {notes:Array(String)}
        SETTINGS mutations_sync = 1`
      await db.command({ sql, params: { notes } })
      expect((await rowsOf(read('long'))).map(({ id }) => id)).toEqual([2])
    })

    it('takes thousands of short values', async () => {
      const names = Array.from({ length: 3_000 }, (_, index) => `v${index}`)
      const params = Object.fromEntries(names.map((name, index) => [name, index]))
      const sql = `SELECT arraySum([${names.map((name) => `{${name}:UInt64}`).join(', ')}]) AS sum`
      expect(await firstOf(db.query({ sql, params }))).toEqual({ sum: 4_498_500 })
    })

    it('rejects a query that cannot run', async () => {
      await expect(firstOf(db.query({ sql: 'SELECT nonsense', params: {} }))).rejects.toThrow()
    })
  })
}
