import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
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

describe('writers that wait for another one', () => {
  it('get an error that says the database is busy, 30 s after they began to wait, and health is degraded before that', async () => {
    const place = await newTestDatabase()
    await using one = await openPostgres(place, SILENT, { servers: 'several' })
    await using other = await openPostgres(place, SILENT, { servers: 'several' })
    await createCounters(one)
    const add = (id: string) => countersOf(other).insertInto('counters').values({ id, value: 0 }).execute()
    const stuck = Promise.withResolvers<void>()
    const holding = one.transaction().execute(async (tx) => {
      // Not left open idly, which ends a transaction after 10 s.
      const working = setInterval(() => void pingControlDb(tx), 1_000)
      await stuck.promise
      clearInterval(working)
    })
    const refused = Promise.allSettled(['a', 'b', 'c'].map(add))
    await eventually(() => expect(other.watch.warnings()).toEqual([expect.stringMatching(/have waited for/)]))
    for (const { status, reason } of (await refused) as PromiseRejectedResult[]) {
      expect(status).toBe('rejected')
      expect(reason).toMatchObject({ status: 503, message: expect.stringMatching(/busy with other writes/) })
    }
    expect(other.watch.warnings()).toEqual([])
    stuck.resolve()
    await holding
    await add('d')
  })
})

describe('a migration', () => {
  it('may take longer than other statements', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-migrations-'))
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
    await writeFile(
      join(folder, '0001-limits.ts'),
      `import { sql } from '${import.meta.resolve('kysely')}'
      export async function up(db) {
        for (const name of ${JSON.stringify(names)}) {
          const { rows } = await sql\`select current_setting(\${name}) as value\`.execute(db)
          if (rows[0].value !== '0') throw new Error(name + ' is ' + rows[0].value)
        }
      }`,
    )
    await using control = await openPostgres(await newTestDatabase(), SILENT)
    await control.migrate(folder)
    await rm(folder, { recursive: true })
  })
})

describe('a PostgreSQL server that takes no writes any more, as after a failover', () => {
  it('is connected to anew, until it or another one takes them', async () => {
    const place = await newTestDatabase()
    await using control = await openPostgres(place, SILENT)
    await createCounters(control)
    const add = (id: string) => countersOf(control).insertInto('counters').values({ id, value: 0 }).execute()
    await using operator = new AsyncDisposableStack()
    const client = new pg.Client(place.url)
    operator.defer(() => client.end())
    await client.connect()
    const setReadOnly = async (value: 'on' | 'off') => {
      await client.query(`begin read write`)
      const name = new URL(place.url).pathname.slice(1)
      await client.query(`alter database ${name} set default_transaction_read_only = ${value}`)
      await client.query('commit')
    }
    await setReadOnly('on')
    // Those that are open already may write as before.
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query not like '%transaction_read_only%'
      and query not like '%pg_try_advisory%'`,
    )
    await eventually(async () =>
      expect(add('a')).rejects.toMatchObject({ message: expect.stringMatching(/read only/) }),
    )
    await eventually(() => expect(control.watch.check).toThrow(/read only/))
    await setReadOnly('off')
    await eventually(() => add('b'))
    control.watch.check()
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
