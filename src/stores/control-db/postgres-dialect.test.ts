import { Kysely } from 'kysely'
import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { StoreFailed } from '../../errors.ts'
import { CommitInDoubt } from './port.ts'
import { postgresDialect } from './postgres-dialect.ts'
import type { ControlTables } from './tables.ts'

/** A control database whose connection is lost after statements with this beginning were sent; all others succeed. */
function openSilent(begin: string): Kysely<ControlTables> {
  async function query(sql: string) {
    if (sql.startsWith(begin)) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    return { command: sql.split(' ', 1)[0]?.toUpperCase(), rowCount: 1, rows: [] }
  }
  const pool = { connect: async () => ({ query, release: () => undefined }) } as unknown as pg.Pool
  return new Kysely({
    dialect: postgresDialect({ pool, hold: { check: () => undefined }, written: () => undefined }),
  })
}

const change = (control: Kysely<ControlTables>) => control.deleteFrom('jobs')

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
