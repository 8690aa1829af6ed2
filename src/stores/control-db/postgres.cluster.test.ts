import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../tests/cluster/postgres.ts'
import { ClientError } from '../../errors.ts'
import { eventually } from '../../test-eventually.ts'
import { SILENT } from '../../test-log.ts'
import { controlDbContract } from './control-db.contract.ts'
import { migrateControlDb } from './migrate.ts'
import { type ControlDb, pingControlDb } from './port.ts'
import { openPostgres } from './postgres.ts'
import { newTestDatabase, openTestControlDb } from './test-database.ts'

controlDbContract(openTestControlDb)

/** A table of counters. */
const countersOf = (control: ControlDb) => control.withTables<{ counters: { id: string; value: number } }>()

async function createCounters(control: ControlDb): Promise<void> {
  await control.schema
    .createTable('counters')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('value', 'integer', (column) => column.notNull())
    .execute()
}

describe('openPostgres', () => {
  it('refuses a database that another server uses, until that one has ended', async () => {
    const place = await newTestDatabase()
    const first = await openPostgres(place, SILENT)
    await expect(openPostgres(place, SILENT)).rejects.toThrow('Another Heddle server uses this database')
    await first[Symbol.asyncDispose]()
    await using second = await openPostgres(place, SILENT)
    await pingControlDb(second)
  })

  it('refuses a database of another encoding, and says how to make a right one', async () => {
    const place = await newTestDatabase({ encoding: 'LATIN1' })
    const name = new URL(place.url).pathname.slice(1)
    await expect(openPostgres(place, SILENT)).rejects.toThrow(
      `by C in LATIN1, which must be by C in UTF8: CREATE DATABASE "${name}" TEMPLATE template0`,
    )
  })

  it('runs transactions one after another: none misses what another one wrote', async () => {
    await using control = await openPostgres(await newTestDatabase(), SILENT)
    await createCounters(control)
    const counters = countersOf(control)
    await counters.insertInto('counters').values({ id: 'a', value: 0 }).execute()
    const countUp = () =>
      counters.transaction().execute(async (tx) => {
        const { value } = await tx.selectFrom('counters').select('value').executeTakeFirstOrThrow()
        await tx
          .updateTable('counters')
          .set({ value: value + 1 })
          .execute()
      })
    await Promise.all(Array.from({ length: 50 }, countUp))
    expect(await counters.selectFrom('counters').select('value').execute()).toEqual([{ value: 50 }])
  })

  it('keeps integers of more than 32 bits in columns that migrations call integer', async () => {
    await using control = await openPostgres(await newTestDatabase(), SILENT)
    await createCounters(control)
    await countersOf(control)
      .insertInto('counters')
      .values({ id: 'a', value: 2 ** 52 })
      .execute()
    expect(await countersOf(control).selectFrom('counters').select('value').execute()).toEqual([
      { value: 2 ** 52 },
    ])
  })

  it('is migrated twice without harm', async () => {
    const place = await newTestDatabase()
    for (const _ of [1, 2]) {
      await using control = await openPostgres(place, SILENT)
      await migrateControlDb(control)
    }
  })
})

describe('a PostgreSQL server that is killed', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it('has what was acknowledged, once; all else is 503, and the server is used again when it is back', async () => {
    await using control = await openPostgres(await newTestDatabase({ server: server.url }), SILENT)
    await createCounters(control)
    const counters = countersOf(control)
    const acknowledged = new Set<string>()
    const refusals: unknown[] = []
    let isEnding = false

    async function write(writer: number): Promise<void> {
      for (let at = 0; !isEnding; at++) {
        const id = `${writer}-${at}`
        try {
          await counters.transaction().execute(async (tx) => {
            await tx.insertInto('counters').values({ id, value: 1 }).execute()
            await tx.updateTable('counters').set({ value: 2 }).where('id', '=', id).execute()
          })
          acknowledged.add(id)
        } catch (error) {
          refusals.push(error)
          await new Promise((wake) => setTimeout(wake, 5))
        }
      }
    }

    const writers = Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer)))
    for (let round = 0; round < 3; round++) {
      const before = acknowledged.size
      await eventually(() => expect(acknowledged.size).toBeGreaterThan(before + 20))
      await server.kill()
      await server.start()
    }
    const before = acknowledged.size
    await eventually(() => expect(acknowledged.size).toBeGreaterThan(before))
    isEnding = true
    await writers
    const rows = await counters.selectFrom('counters').selectAll().execute()
    expect(new Set(rows.map(({ value }) => value))).toEqual(new Set([2]))
    expect(acknowledged.isSubsetOf(new Set(rows.map(({ id }) => id)))).toBe(true)
    expect(refusals).not.toEqual([])
    for (const error of refusals) expect(error).toMatchObject({ status: 503, retryAfterSeconds: 5 })
    expect(refusals.every((error) => error instanceof ClientError)).toBe(true)
  })
})
