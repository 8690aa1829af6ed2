import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ControlDb, pingControlDb, UniqueViolation } from './port.ts'
import type { ControlTables } from './tables.ts'

interface ContractTable {
  id: string
  owner: string
  /** Up to 2^53. */
  size: number
  note: string | null
}

const NO_TEXT = { status: 400, message: 'Texts must not have U+0000' }

/** The tests that every adapter of the control database must pass; it is opened with all migrations. */
export function controlDbContract(open: () => Promise<ControlDb & AsyncDisposable>): void {
  describe('control db', () => {
    let opened: ControlDb & AsyncDisposable
    beforeAll(async () => {
      opened = await open()
      await opened.schema
        .createTable('contract')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('owner', 'text', (column) => column.notNull())
        .addColumn('size', 'bigint', (column) => column.notNull())
        .addColumn('note', 'text')
        .execute()
    })
    afterAll(() => opened[Symbol.asyncDispose]())

    const db = () => opened.withTables<{ contract: ContractTable }>()
    const row = (owner: string, id: string, more: Partial<ContractTable> = {}): ContractTable => ({
      id: `${owner}/${id}`,
      owner,
      size: 0,
      note: null,
      ...more,
    })
    const insert = (...rows: ContractTable[]) => db().insertInto('contract').values(rows).execute()
    const idsOf = async (owner: string): Promise<string[]> => {
      const rows = await db()
        .selectFrom('contract')
        .select('id')
        .where('owner', '=', owner)
        .orderBy('id')
        .execute()
      return rows.map(({ id }) => id.slice(owner.length + 1))
    }

    it('answers', () => pingControlDb(opened))

    it('has the tables of all migrations', async () => {
      const names: (keyof ControlTables)[] = ['projects', 'contents', 'models', 'training_jobs', 'runs']
      for (const name of names) expect(await opened.selectFrom(name).selectAll().execute()).toEqual([])
    })

    it('returns stored values unchanged: texts of any Unicode, numbers up to 2^53, nulls', async () => {
      const rows = [
        row('values', 'a', { note: `'"\\%_\n ü 😀`, size: Number.MAX_SAFE_INTEGER }),
        row('values', 'b', { note: '', size: -5 }),
        row('values', 'c'),
      ]
      await insert(...rows)
      expect(
        await db().selectFrom('contract').selectAll().where('owner', '=', 'values').orderBy('id').execute(),
      ).toEqual(rows)
    })

    it('refuses texts with U+0000, and has none of their rows', async () => {
      const text = 'a\u0000b'
      await expect(insert(row('nul', 'a'), row('nul', 'b', { note: text }))).rejects.toMatchObject(NO_TEXT)
      expect(await idsOf('nul')).toEqual([])
      await insert(row('nul', 'a'))
      const changed = db().updateTable('contract').set({ note: text }).where('id', '=', 'nul/a')
      await expect(changed.execute()).rejects.toMatchObject(NO_TEXT)
      await expect(changed.returning('id').execute()).rejects.toMatchObject(NO_TEXT)
      const stored = db().selectFrom('contract').selectAll().where('owner', '=', 'nul')
      expect(await stored.execute()).toEqual([row('nul', 'a')])
    })

    it('returns the nearest number for what has grown beyond 2^53', async () => {
      await insert(row('beyond', 'a', { size: Number.MAX_SAFE_INTEGER }), row('beyond', 'b'))
      const grown = db()
        .updateTable('contract')
        .set((eb) => ({ size: eb('size', '+', 1) }))
        .where('id', '=', 'beyond/a')
      expect(await grown.returning('size').execute()).toEqual([{ size: 2 ** 53 }])
      const sizes = db().selectFrom('contract').select('size').where('owner', '=', 'beyond').orderBy('id')
      expect(await sizes.execute()).toEqual([{ size: 2 ** 53 }, { size: 0 }])
    })

    it('counts and sums to numbers', async () => {
      await insert(row('sums', 'a', { size: 2 ** 40 }), row('sums', 'b', { size: 2 ** 41 }))
      const sums = db().selectFrom('contract').where('owner', '=', 'sums')
      const selected = sums.select((eb) => [
        eb.fn.countAll<number>().as('rows'),
        eb.fn.count<number>('note').as('notes'),
        eb.fn.sum<number>('size').as('size'),
        eb.fn.max('size').as('largest'),
      ])
      expect(await selected.executeTakeFirst()).toEqual({
        rows: 2,
        notes: 0,
        size: 3 * 2 ** 40,
        largest: 2 ** 41,
      })
    })

    it('orders and compares texts by code points', async () => {
      const ids = ['a', 'B', 'ä', 'b', 'A', '_', '0', '2026-01-02T03:04:05.000001Z', '2026-01-02T03:04:05Z']
      await insert(...ids.map((id) => row('order', id)))
      expect(await idsOf('order')).toEqual([...ids].sort())
      const after = await db()
        .selectFrom('contract')
        .select('id')
        .where('owner', '=', 'order')
        .where('id', '>', 'order/_')
        .execute()
      expect(after.map(({ id }) => id).sort()).toEqual(['order/a', 'order/b', 'order/ä'])
    })

    it('returns the rows that it changed, and their number', async () => {
      const added = await db()
        .insertInto('contract')
        .values([row('changes', 'a'), row('changes', 'b')])
        .returning('id')
        .execute()
      expect(added).toHaveLength(2)
      const changes = db().updateTable('contract').set({ note: 'changed' }).where('owner', '=', 'changes')
      expect((await changes.executeTakeFirst()).numUpdatedRows).toBe(2n)
      expect(await changes.where('id', '=', 'changes/a').returningAll().execute()).toEqual([
        row('changes', 'a', { note: 'changed' }),
      ])
      const removed = await db()
        .deleteFrom('contract')
        .where('owner', '=', 'changes')
        .returning('id')
        .execute()
      expect(removed.map(({ id }) => id).sort()).toEqual(['changes/a', 'changes/b'])
    })

    it('keeps or replaces a row of the same key, as the statement requires', async () => {
      await insert(row('conflicts', 'a', { note: 'first' }))
      const values = [row('conflicts', 'a', { note: 'second', size: 7 }), row('conflicts', 'b')]
      const kept = db()
        .insertInto('contract')
        .values(values)
        .onConflict((clash) => clash.column('id').doNothing())
      expect((await kept.executeTakeFirst()).numInsertedOrUpdatedRows).toBe(1n)
      expect(await kept.returning('id').execute()).toEqual([])
      const replaced = db()
        .insertInto('contract')
        .values(values.slice(0, 1))
        .onConflict((clash) =>
          clash.columns(['id']).doUpdateSet((eb) => ({
            note: eb.ref('excluded.note'),
            size: eb('contract.size', '+', eb.ref('excluded.size')),
          })),
        )
      expect(await replaced.returning(['note', 'size']).execute()).toEqual([{ note: 'second', size: 7 }])
    })

    it('refuses a row whose key is taken, and stays unchanged', async () => {
      await insert(row('unique', 'a'))
      await expect(insert(row('unique', 'b'), row('unique', 'a'))).rejects.toBeInstanceOf(UniqueViolation)
      const moved = db().updateTable('contract').set({ id: 'unique/a' })
      await insert(row('unique', 'c'))
      await expect(moved.where('id', '=', 'unique/c').execute()).rejects.toBeInstanceOf(UniqueViolation)
      expect(await idsOf('unique')).toEqual(['a', 'c'])
    })

    it('has nothing in an empty list', async () => {
      await insert(row('empty', 'a'))
      const none = db().selectFrom('contract').select('id').where('owner', '=', 'empty').where('id', 'in', [])
      expect(await none.execute()).toEqual([])
      const all = db()
        .selectFrom('contract')
        .select('id')
        .where('owner', '=', 'empty')
        .where('id', 'not in', [])
      expect(await all.execute()).toEqual([{ id: 'empty/a' }])
    })

    it('takes thousands of values in a statement', async () => {
      const ids = Array.from({ length: 5_000 }, (_, index) => String(index))
      await insert(...ids.map((id) => row('many', id)))
      const found = db()
        .selectFrom('contract')
        .select('id')
        .where(
          'id',
          'in',
          ids.map((id) => `many/${id}`),
        )
      expect(await found.execute()).toHaveLength(ids.length)
    })

    it('applies a transaction whole', async () => {
      await db()
        .transaction()
        .execute(async (tx) => {
          await tx.insertInto('contract').values(row('whole', 'a')).execute()
          expect(
            await tx.selectFrom('contract').select('id').where('owner', '=', 'whole').execute(),
          ).toHaveLength(1)
        })
      expect(await idsOf('whole')).toEqual(['a'])
    })

    it('applies nothing of a transaction that throws, or in which a statement fails', async () => {
      await insert(row('nothing', 'taken'))
      const throwing = db()
        .transaction()
        .execute(async (tx) => {
          await tx.insertInto('contract').values(row('nothing', 'a')).execute()
          throw new Error('changed its mind')
        })
      await expect(throwing).rejects.toThrow('changed its mind')
      const failing = db()
        .transaction()
        .execute(async (tx) => {
          await tx.insertInto('contract').values(row('nothing', 'b')).execute()
          await tx.insertInto('contract').values(row('nothing', 'taken')).execute()
        })
      await expect(failing).rejects.toBeInstanceOf(UniqueViolation)
      expect(await idsOf('nothing')).toEqual(['taken'])
    })

    it('gives concurrent increments different numbers', async () => {
      await insert(row('counter', 'a'))
      const next = (tx: ReturnType<typeof db>) =>
        tx
          .updateTable('contract')
          .set((eb) => ({ size: eb('size', '+', 1) }))
          .where('id', '=', 'counter/a')
          .returning('size')
          .executeTakeFirstOrThrow()
      const taken = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          index % 2 === 0 ? next(db()) : db().transaction().execute(next),
        ),
      )
      expect(taken.map(({ size }) => size).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 20 }, (_, index) => index + 1),
      )
    })

    it('gives a row to only one of several concurrent takers', async () => {
      await insert(row('claim', 'a'))
      const take = (note: string) =>
        db()
          .updateTable('contract')
          .set({ note })
          .where('id', '=', 'claim/a')
          .where('note', 'is', null)
          .returning('note')
          .execute()
      const taken = await Promise.all(['x', 'y', 'z'].map(take))
      expect(taken.flat()).toHaveLength(1)
    })

    it('binds values, so that they are never SQL', async () => {
      const value = `'; drop table contract; --`
      const { rows } = await sql<{ value: string }>`select cast(${value} as text) as value`.execute(opened)
      expect(rows).toEqual([{ value }])
    })
  })
}
