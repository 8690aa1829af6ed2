import { spawn } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@clickhouse/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test-eventually.ts'
import { SILENT } from '../../../test-log.ts'
import { freePort } from '../../processes/free-port.ts'
import { rowsOf, type TraceDb } from '../port.ts'
import { openEmbedded } from './embedded.ts'

let folder: string
let db: TraceDb

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-server-'))
  db = await openEmbedded(folder, SILENT)
  await db.command({
    sql: `CREATE TABLE notes (project_id String, id UInt64) ENGINE = MergeTree ORDER BY (project_id, id)
      SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
    params: {},
  })
})
afterAll(() => db[Symbol.asyncDispose]())

/** The process of the server below a folder; undefined when there is none. */
async function pidOf(path: string): Promise<number | undefined> {
  const list = spawn('pgrep', ['-f', `serve\\.ts .* ${path}/trace-db `], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  for await (const piece of list.stdout) output += String(piece)
  return output === '' ? undefined : Number(output)
}

async function settingOf(name: string): Promise<string> {
  const xml = await readFile(join(folder, 'trace-db-server/config.xml'), 'utf8')
  return new RegExp(`<${name}>(.*?)</${name}>`).exec(xml)?.[1] ?? ''
}

const idsOf = async (project: string): Promise<number[]> => {
  const sql = 'SELECT id FROM notes WHERE project_id = {project_id:String}'
  return (await rowsOf(db.query<{ id: number }>({ sql, params: { project_id: project } }))).map(
    ({ id }) => id,
  )
}

describe('the process of the trace database', () => {
  it('is started again when it is killed, and has every row that was acknowledged', async () => {
    const acknowledged: number[] = []
    const refused: unknown[] = []
    for (let round = 0; round < 3; round++) {
      const writes = Array.from({ length: 40 }, async (_, index) => {
        const id = round * 100 + index
        await db.insert('notes', [{ project_id: `p${index % 4}`, id }]).then(
          () => acknowledged.push(id),
          (error: unknown) => refused.push(error),
        )
      })
      await Promise.race(writes)
      const before = await pidOf(folder)
      process.kill(before ?? 0, 'SIGKILL')
      await Promise.all(writes)
      await eventually(async () => {
        await db.insert('notes', [{ project_id: 'p0', id: round * 100 + 99 }])
        expect(await pidOf(folder)).not.toBe(before)
      })
    }
    for (const error of refused) expect(error).toMatchObject({ status: 503 })
    const stored = new Set((await Promise.all(['p0', 'p1', 'p2', 'p3'].map(idsOf))).flat())
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })

  it('fails a read whose server is killed with 503, and answers the next', async () => {
    const sql = 'SELECT number, sleepEachRow(0.01) FROM numbers(1000000) SETTINGS max_block_size = 100'
    const read = db.query({ sql, params: {} })[Symbol.asyncIterator]()
    expect(await read.next()).toMatchObject({ done: false })
    const rest = rowsOf({ [Symbol.asyncIterator]: () => read })
    const failed = expect(rest).rejects.toMatchObject({ status: 503 })
    process.kill((await pidOf(folder)) ?? 0, 'SIGKILL')
    await failed
    await eventually(async () => expect(await idsOf('nothing')).toEqual([]))
  })

  it('answers nobody without its key, and lets nobody in without its password', async () => {
    const url = `http://127.0.0.1:${await settingOf('http_port')}/?query=SELECT+1`
    expect((await fetch(url)).status).toBe(404)
    expect((await fetch(url, { headers: { 'x-heddle-key': 'another' } })).status).toBe(404)
    const key = { 'x-heddle-key': await settingOf('x-heddle-key') }
    expect((await fetch(`${url}&user=heddle`, { headers: key })).status).toBe(403)
    const tables = await fetch(`${url.replace('SELECT+1', 'SELECT+*+FROM+notes')}`, { headers: key })
    expect(await tables.text()).toContain('ACCESS_DENIED')
  })

  it.skipIf(process.platform !== 'linux')('knows no secrets of the server', async () => {
    const known = await readFile(`/proc/${await pidOf(folder)}/environ`, 'utf8')
    expect(known).toContain('PATH=')
    // A variable that the program does not need, as settings of the server are.
    expect(process.env['VITEST']).toBe('true')
    expect(known).not.toContain('VITEST=')
  })

  it('lets a reader in with the password alone, who reads the tables and changes nothing', async () => {
    const other = await mkdtemp(join(tmpdir(), 'heddle-server-'))
    const port = await freePort()
    const password = 'a-password-of-readers'
    await using opened = await openEmbedded(other, SILENT, { sqlAccess: { port, password } })
    await opened.command({ sql: 'CREATE TABLE notes (id UInt64) ENGINE = MergeTree ORDER BY id', params: {} })
    await opened.insert('notes', [{ id: 7 }])
    const url = `http://127.0.0.1:${port}`
    await using client = createClient({ url, username: 'reader', password })
    const rows = await client.query({ query: 'SELECT id FROM notes', format: 'JSONEachRow' })
    expect(await rows.json()).toEqual([{ id: 7 }])
    const headers = { 'x-clickhouse-user': 'reader', 'x-clickhouse-key': password }
    const ask = async (sql: string): Promise<string> =>
      (await fetch(url, { method: 'POST', body: sql, headers })).text()
    expect(await ask('SELECT count() FROM notes')).toBe('1\n')
    for (const sql of [
      'DROP TABLE notes',
      'INSERT INTO notes VALUES (1)',
      `SELECT * FROM url('${url}', 'CSV', 'a String')`,
      `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
      'SYSTEM STOP LISTEN HTTP',
      'SHOW GRANTS FOR heddle',
    ])
      expect(await ask(sql), sql).toContain('ACCESS_DENIED')
    expect(await ask('SELECT 1 SETTINGS max_memory_usage = 0')).toContain('SETTING_CONSTRAINT_VIOLATION')
    const refused = [
      {},
      { authorization: `Basic ${btoa('default:')}` },
      { ...headers, 'x-clickhouse-key': '' },
    ]
    for (const other of refused) expect((await fetch(url, { headers: other })).status).toBe(404)
  })

  it('ends with the process that started it, however that ends', async () => {
    const other = await mkdtemp(join(tmpdir(), 'heddle-server-'))
    const program = `const { openEmbedded } = await import(${JSON.stringify(join(import.meta.dirname, 'embedded.ts'))})
      await openEmbedded(${JSON.stringify(other)}, console)
      console.log('open')`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await new Promise((resolve) => parent.stdout.once('data', resolve))
    expect(await pidOf(other)).toBeDefined()
    parent.kill('SIGKILL')
    await eventually(async () => expect(await pidOf(other)).toBeUndefined())
    // The files are free.
    await (await openEmbedded(other, SILENT))[Symbol.asyncDispose]()
  })

  it('cannot be opened twice, with the reason', async () => {
    await expect(openEmbedded(folder, SILENT, { heldMsMax: 0 })).rejects.toThrow('already running')
  })

  it('waits for files that an earlier process still holds', async () => {
    const other = await mkdtemp(join(tmpdir(), 'heddle-server-'))
    const earlier = await openEmbedded(other, SILENT)
    const opening = openEmbedded(other, SILENT)
    const log = join(other, 'trace-db-server/clickhouse.log')
    await eventually(async () => expect(await readFile(log, 'utf8')).toContain('already running'))
    await earlier[Symbol.asyncDispose]()
    await (await opening)[Symbol.asyncDispose]()
  })
})
