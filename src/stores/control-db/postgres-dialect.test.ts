import { Kysely, sql } from 'kysely'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { StoreFailed } from '../../errors.ts'
import { CommitInDoubt } from './port.ts'
import { postgresDialect } from './postgres-dialect.ts'
import type { ControlTables } from './tables.ts'
import { createWriterTurns } from './writer-turns.ts'

const hold = { check: () => undefined, renew: () => undefined }
const turns = createWriterTurns()

/** A control database whose connection is lost after statements with this beginning were sent; all others succeed. */
function openSilent(begin: string): Kysely<ControlTables> {
  async function query(sql: string) {
    if (sql.startsWith(begin)) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    return { command: sql.split(' ', 1)[0]?.toUpperCase(), rowCount: 1, rows: [] }
  }
  const pool = { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool
  return new Kysely({ dialect: postgresDialect({ pool, hold, turns, written: () => undefined }) })
}

const change = (control: Kysely<ControlTables>) => control.deleteFrom('jobs')

/** A control database that keeps what is sent to it, and how often a write was reported. */
function openRecording({ rowCount }: { rowCount: number }) {
  const sent: string[] = []
  const reported: unknown[] = []
  async function query(sql: string) {
    sent.push(sql)
    return { command: sql.split(' ', 1)[0]?.toUpperCase(), rowCount, rows: [] }
  }
  const pool = { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool
  const dialect = postgresDialect({ pool, hold, turns, written: (error) => reported.push(error) })
  return { control: new Kysely<ControlTables>({ dialect }), sent, reported }
}

describe('a statement by itself', () => {
  it.each([
    ['a list', (control: Kysely<ControlTables>) => control.selectFrom('jobs').select('id').execute()],
    [
      'a selection before another',
      (control: Kysely<ControlTables>) =>
        control
          .withRecursive('found', (db) =>
            db
              .selectFrom('jobs')
              .select('id')
              .unionAll(db.selectFrom('found').select('id').where('id', '>', '')),
          )
          .selectFrom('found')
          .select('id')
          .execute(),
    ],
    ['a text', (control: Kysely<ControlTables>) => sql`select 1`.execute(control)],
  ])('takes no turn and reports no write where it only reads: %s', async (_name, read) => {
    const { control, sent, reported } = openRecording({ rowCount: 1 })
    await read(control)
    expect(sent).toHaveLength(1)
    expect(reported).toEqual([])
  })

  it.each([
    ['a deletion', (control: Kysely<ControlTables>) => change(control).execute()],
    [
      'a deletion before a selection',
      (control: Kysely<ControlTables>) =>
        control
          .with('gone', (db) => db.deleteFrom('jobs').returning('id'))
          .selectFrom('gone')
          .select('id')
          .execute(),
    ],
    ['a text', (control: Kysely<ControlTables>) => sql`create table other (id text)`.execute(control)],
  ])('takes a turn and reports its write: %s', async (_name, write) => {
    const { control, sent, reported } = openRecording({ rowCount: 1 })
    await write(control)
    expect(sent).toEqual([expect.stringMatching(/^begin/), expect.any(String), 'commit'])
    expect(reported).toEqual([undefined])
  })

  it('reports nothing where it changes no row, and no transaction that reads or is rolled back does', async () => {
    const { control, reported } = openRecording({ rowCount: 0 })
    await change(control).execute()
    await control.transaction().execute((tx) => tx.selectFrom('jobs').select('id').execute())
    const failing = control.transaction().execute(() => Promise.reject(new Error('no')))
    await expect(failing).rejects.toThrow('no')
    expect(reported).toEqual([])
  })
})

describe('a change without an answer', () => {
  it('is in doubt where it was the commit', async () => {
    const control = openSilent('commit')
    await expect(change(control).execute()).rejects.toThrow(CommitInDoubt)
    const inTransaction = control.transaction().execute((tx) => change(tx).execute())
    await expect(inTransaction).rejects.toThrow(CommitInDoubt)
  })

  it.each(['begin', 'delete'])('was not stored where it was a statement before: %s', async (statement) => {
    const control = openSilent(statement)
    for (const work of [
      change(control).execute(),
      control.transaction().execute((tx) => change(tx).execute()),
    ]) {
      const error = await work.catch((reason: unknown) => reason)
      expect(error).toBeInstanceOf(StoreFailed)
      expect(error).not.toBeInstanceOf(CommitInDoubt)
    }
  })
})
