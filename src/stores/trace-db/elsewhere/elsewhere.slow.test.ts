import { connect as connectTo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CERT, KEY } from '../../../test-certificate.ts'
import { SILENT } from '../../../test-log.ts'
import { freePort } from '../../processes/free-port.ts'
import { findBrokenParts } from '../broken-parts.ts'
import { connect } from '../clickhouse/connection.ts'
import { migrateTraceDb } from '../migrate.ts'
import { firstOf, rowsOf } from '../port.ts'
import { traceDbContract } from '../trace-db.contract.ts'
import type { ElsewhereOptions } from './address.ts'
import { openElsewhere } from './elsewhere.ts'
import { inTurn } from './migration-turns.ts'
import { ENGINES, RIGHTS, SYSTEM_TABLES } from './start-checks.ts'
import { startTestClickHouse, type TestClickHouse } from './test-server.ts'

let server: TestClickHouse

beforeAll(async () => {
  const replicas =
    '<replica><host>a</host><port>1</port></replica><replica><host>b</host><port>1</port></replica>'
  server = await startTestClickHouse({
    config: `<remote_servers><doubling><shard>${replicas}</shard></doubling>
      <sound><shard><internal_replication>true</internal_replication>${replicas}</shard></sound></remote_servers>`,
    users: [
      { name: 'reader', grants: ['SELECT ON *.*'] },
      {
        name: 'owner',
        grants: [
          ...RIGHTS.map((right) => `${right} ON owned.*`),
          ...SYSTEM_TABLES.map((table) => `SELECT ON system.${table}`),
          ...ENGINES.map((engine) => `TABLE ENGINE ON ${engine}`),
        ],
      },
    ],
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const open = (database: string, options: Partial<ElsewhereOptions> = {}) =>
  openElsewhere({ url: server.url(database), ...options }, SILENT)

describe('on a server elsewhere', () => {
  traceDbContract(() => open('contract'))
})

describe('on a server elsewhere, compressed', () => {
  traceDbContract(() => open('compressed', { isCompressed: true }))
})

describe('on a server elsewhere, with no more rights than are asked for', () => {
  traceDbContract(async () => {
    await (await open('owned'))[Symbol.asyncDispose]()
    const db = await openElsewhere({ url: server.url('owned', 'owner') }, SILENT)
    await inTurn(db, SILENT, () => migrateTraceDb(db))
    await findBrokenParts(db, SILENT)
    return db
  })
})

describe('openElsewhere', () => {
  const refused = (url: string) => expect(openElsewhere({ url }, SILENT)).rejects

  it('makes the database that the address names', async () => {
    await using db = await open('made')
    expect(await firstOf(db.query({ sql: 'SELECT currentDatabase() AS name', params: {} }))).toEqual({
      name: 'made',
    })
  })

  it('says which rights a user lacks, and what gives them', async () => {
    await using _made = await open('other')
    await refused(server.url('other', 'reader')).toThrow('GRANT INSERT ON other.* TO reader')
    await refused(server.url('another', 'reader')).toThrow(
      'nor may it make one: CREATE DATABASE IF NOT EXISTS another',
    )
  })

  it('says that a password is wrong, without it, and that nothing answers', async () => {
    const wrong = server.url('other').replace(':heddle@', ':secret@')
    await refused(wrong).toThrow(/does not accept the user heddle with this password$/)
    await refused('http://127.0.0.1:1/other').toThrow('http://127.0.0.1:1 does not answer as ClickHouse does')
  })

  it('asks over TLS, with a certificate that only its setting knows', async () => {
    const listener = createTlsServer({ cert: CERT, key: KEY }, (client) => {
      const target = connectTo(server.port, '127.0.0.1')
      client
        .on('error', () => target.destroy())
        .pipe(target)
        .on('error', () => client.destroy())
        .pipe(client)
    })
    const port = await freePort()
    await new Promise<void>((resolve) => listener.listen(port, '127.0.0.1', resolve))
    const url = server.url('encrypted').replace('http:', 'https:').replace(`:${server.port}/`, `:${port}/`)
    {
      await using db = await openElsewhere({ url, ca: CERT }, SILENT)
      expect(await firstOf(db.query({ sql: 'SELECT 1 AS one', params: {} }))).toEqual({ one: 1 })
    }
    await refused(url).toThrow('self-signed certificate')
    listener.close()
  })

  it('says what a cluster lacks', async () => {
    const clustered = (cluster: string) => expect(open('clustered', { cluster })).rejects
    await clustered('none').toThrow(/There is no cluster none: the server knows .*sound/)
    await clustered('doubling').toThrow('its shards need internal_replication')
    await clustered('sound').toThrow('lacks the macros shard and replica')
  })

  it('does not depend on the settings of its user', async () => {
    await using db = await open('settings')
    const sql = `SELECT name, value FROM system.settings
      WHERE name IN ('async_insert', 'session_timezone', 'date_time_output_format') ORDER BY name`
    expect(await rowsOf(db.query({ sql, params: {} }))).toEqual([
      { name: 'async_insert', value: '0' },
      { name: 'date_time_output_format', value: 'iso' },
      { name: 'session_timezone', value: 'UTC' },
    ])
  })
})

describe('migrations', () => {
  it('are run by several servers at once, one after the other', async () => {
    const opened = await Promise.all([open('migrated'), open('migrated'), open('migrated')])
    let running = 0
    const work = opened.map((db) =>
      inTurn(db, SILENT, async () => {
        expect(++running).toBe(1)
        await migrateTraceDb(db)
        running--
      }),
    )
    await Promise.all(work)
    const [db] = opened
    const tables = await rowsOf(
      db.query<{ name: string }>({
        sql: 'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
        params: {},
      }),
    )
    expect(tables.map(({ name }) => name)).toContain('calls')
    expect(tables.map(({ name }) => name)).not.toContain('migrating')
    for (const one of opened) await one[Symbol.asyncDispose]()
  })

  it('go on where a server has ended in the midst of them', async () => {
    await using db = await open('interrupted')
    const sql = `CREATE TABLE migrating (held UInt8) ENGINE = Null COMMENT 'gone 1000'`
    await db.command({ sql, params: {} })
    const done: string[] = []
    await inTurn(db, SILENT, async () => void done.push('done'))
    expect(done).toEqual(['done'])
  })
})

describe('an insert that is repeated', () => {
  it('changes nothing where rows add up, and is applied where a later one has the same rows', async () => {
    await using db = await open('repeated')
    await migrateTraceDb(db)
    const url = `http://127.0.0.1:${server.port}`
    const at = { url, username: 'heddle', password: 'heddle', headers: {}, database: 'repeated' }
    await using connection = connect(at)
    const line = Buffer.from(JSON.stringify({ entity: 'e', project: 'p', model: 'm', requests: 1 }))
    for (const token of ['a', 'a', 'b']) await connection.insert('completion_usage', [line], token)
    const sql = 'SELECT sum(requests) AS sum FROM completion_usage'
    expect(await connection.rows(sql)).toEqual([{ sum: 2 }])
  })
})
