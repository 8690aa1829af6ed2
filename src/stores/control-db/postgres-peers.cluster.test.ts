import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../tests/cluster/postgres.ts'
import { eventually } from '../../test-eventually.ts'
import { SILENT } from '../../test-log.ts'
import { startTestNetwork } from '../../test-network.ts'
import { migrateControlDb } from './migrate.ts'
import { openPostgres } from './postgres.ts'
import type { PostgresOptions } from './postgres-address.ts'
import { newTestDatabase } from './test-database.ts'

async function openShared(place: PostgresOptions) {
  const control = await openPostgres(place, SILENT, { servers: 'several' })
  await migrateControlDb(control)
  await control.reportChanges()
  return control
}

const budget = (id: string) => ({
  id,
  entity: 'team',
  project: null,
  key_id: null,
  unit: 'tokens' as const,
  amount: 1,
  warn_at: 1,
  created_at: '',
  created_by: '',
})

describe('several servers of one PostgreSQL', () => {
  it('use it together, and not beside one that would be alone', async () => {
    const place = await newTestDatabase()
    const first = await openShared(place)
    await using second = await openShared(place)
    await expect(openPostgres(place, SILENT)).rejects.toThrow('Another Heddle server uses this database')
    await first[Symbol.asyncDispose]()
    await expect(openPostgres(place, SILENT)).rejects.toThrow('start all with HEDDLE_SERVERS=several')
    await second[Symbol.asyncDispose]()
    await using alone = await openPostgres(place, SILENT)
    await expect(openShared(place)).rejects.toThrow('without HEDDLE_SERVERS=several uses this database')
    expect(alone.peers.arePossible).toBe(false)
  })

  it('start at once over an empty database', async () => {
    const place = await newTestDatabase()
    const servers = await Promise.all([1, 2, 3].map(() => openShared(place)))
    for (const server of servers) await server[Symbol.asyncDispose]()
  })

  it('learn of changes of tables once they are committed, and of none that is not', async () => {
    const place = await newTestDatabase()
    await using one = await openShared(place)
    await using other = await openShared(place)
    let changes = 0
    other.peers.onChange(['budgets'], () => {
      changes++
    })
    const undone = one.transaction().execute(async (tx) => {
      await tx.insertInto('budgets').values(budget('undone')).execute()
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    await one.transaction().execute(async (tx) => {
      await tx.insertInto('budgets').values(budget('a')).execute()
      await tx.insertInto('budgets').values(budget('b')).execute()
      await new Promise((wake) => setTimeout(wake, 300))
      expect(changes).toBe(0)
    })
    await eventually(() => expect(changes).toBeGreaterThan(0))
    const before = changes
    await one.deleteFrom('budgets').execute()
    await eventually(() => expect(changes).toBeGreaterThan(before))
  })

  it('learn of changes that an earlier version did not report', async () => {
    const place = await newTestDatabase()
    await using one = await openShared(place)
    await sql`create or replace trigger heddle_changed after insert on budgets
      for each statement execute function heddle_changed()`.execute(one)
    await sql`comment on trigger heddle_changed on budgets is null`.execute(one)
    await using other = await openShared(place)
    let changes = 0
    other.peers.onChange(['budgets'], () => {
      changes++
    })
    await one.deleteFrom('budgets').execute()
    await eventually(() => expect(changes).toBeGreaterThan(0))
  })

  it('hear what the others send, in order, and not themselves', async () => {
    const place = await newTestDatabase()
    await using one = await openShared(place)
    await using other = await openShared(place)
    const heard: unknown[] = []
    one.peers.onMessage('monitors', (text) => heard.push(['one', text]))
    other.peers.onMessage('monitors', (text) => heard.push(['other', text]))
    other.peers.onMessage('jobs', (text) => heard.push(['jobs', text]))
    one.peers.send('monitors', 'a\nb "c"')
    await eventually(() => expect(heard).toEqual([['other', 'a\nb "c"']]))
    other.peers.send('monitors', '')
    await eventually(() => expect(heard).toHaveLength(2))
    expect(heard[1]).toEqual(['one', ''])
  })
})

describe('a server whose network to PostgreSQL passes nothing on', () => {
  it('refuses writes until it is connected again, and is notified that messages may be lost', async () => {
    const direct = await newTestDatabase()
    await using network = await startTestNetwork(Number(new URL(direct.url).port))
    const cutOff = new URL(direct.url)
    cutOff.port = String(network.port)
    await using one = await openShared(direct)
    await using other = await openShared({ url: cutOff.href })
    let missed = 0
    other.peers.onMessage('monitors', (text) => {
      if (text === undefined) missed++
    })
    network.hang(true)
    await one.insertInto('budgets').values(budget('a')).execute()
    await eventually(() => expect(missed).toBeGreaterThan(0))
    await expect(other.insertInto('budgets').values(budget('b')).execute()).rejects.toMatchObject({
      status: 503,
    })
    network.hang(false)
    await eventually(() => other.insertInto('budgets').values(budget('b')).execute())
    const heard: unknown[] = []
    other.peers.onMessage('jobs', (text) => heard.push(text))
    await eventually(() => {
      one.peers.send('jobs', 'due')
      expect(heard).toContain('due')
    })
  })
})

describe('several servers whose PostgreSQL is killed', () => {
  let server: TestPostgres
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  it('are notified that messages may be lost, and receive them again', async () => {
    const place = await newTestDatabase({ server: server.url })
    await using one = await openShared(place)
    await using other = await openShared(place)
    let changes = 0
    let missed = 0
    other.peers.onChange(['budgets'], () => {
      changes++
    })
    other.peers.onMessage('jobs', (text) => {
      if (text === undefined) missed++
    })
    await server.kill()
    await eventually(() => expect(missed).toBeGreaterThan(0))
    await server.start()
    await eventually(async () => one.insertInto('budgets').values(budget('a')).execute())
    const before = changes
    await eventually(async () => {
      await one.insertInto('budgets').values(budget(crypto.randomUUID())).execute()
      expect(changes).toBeGreaterThan(before)
    })
  })
})
