import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createTestAccounts } from './accounts/test-accounts.ts'
import { type Config, readConfig } from './config.ts'
import type { Log } from './log.ts'
import { type Moved, move } from './move.ts'
import { openStores, type Stores } from './open-stores.ts'
import { movedTables } from './stores/move/trace-rows.ts'
import { rowsOf, type TraceDb } from './stores/trace-db/port.ts'
import { openTestApp, type TestApp } from './test-app.ts'
import { eventually } from './test-eventually.ts'
import { SILENT } from './test-log.ts'
import { type Fields, replyOf, storesOnServers } from './testing.ts'
import { finishedCall } from './trace/test-calls.ts'

const PROJECT = 'ada/looms'

/** More than one range of rows. */
const CALLS = 3_000

/** More than two first ranges of a table, of which each begins after a key. */
const ROWS = 700

type Read = readonly [path: string, body: Fields]

/** The bodies of requests that read most kinds of data, by path. */
const READS: readonly [Read, ...Read[]] = [
  ['/calls/stream_query', { project_id: PROJECT, sort_by: [{ field: 'id', direction: 'asc' }] }],
  ['/calls/query_stats', { project_id: PROJECT }],
  ['/objs/query', { project_id: PROJECT }],
  ['/feedback/query', { project_id: PROJECT, query: { $expr: { $gt: [{ $literal: 2 }, { $literal: 1 }] } } }],
  ['/project/stats', { project_id: PROJECT }],
]

let root = ''
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'heddle-move-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

const folder = (name: string): string => join(root, name)

function configOf(settings: Record<string, string>): Config {
  return readConfig({ HEDDLE_PORT: '0', ...settings })
}

async function clusterSettings(data: string): Promise<Record<string, string>> {
  const { clickhouse, postgres, s3 } = await storesOnServers()
  if (clickhouse === undefined || postgres === undefined || s3 === undefined) throw new Error('No servers')
  return {
    HEDDLE_DATA: data,
    HEDDLE_CLICKHOUSE_URL: clickhouse.url,
    HEDDLE_POSTGRES_URL: postgres.url,
    HEDDLE_S3_URL: `s3://${s3.bucket}/${s3.prefix}`,
    HEDDLE_S3_ENDPOINT: s3.endpoint ?? '',
  }
}

const storesOf = (config: Config): Promise<Stores> =>
  openStores({ data: config.dataFolder, workspace: config.engine.folder }, SILENT, config)

const openApp = (config: Config): Promise<TestApp> => openTestApp(config.dataFolder, { stores: config })

type Server = (path: string, body?: unknown, key?: string) => Promise<Response>

const within =
  ({ app }: TestApp): Server =>
  async (path, body, key) =>
    app.request(path, requestOf(body, key))

const at =
  (url: string): Server =>
  (path, body, key) =>
    fetch(url + path, requestOf(body, key))

function requestOf(body: unknown, key = 'test-key'): RequestInit {
  const headers = { authorization: `Bearer ${key}` }
  if (body === undefined) return { headers }
  return { method: 'POST', headers, body: body instanceof FormData ? body : JSON.stringify(body) }
}

async function ok(reply: Promise<Response>): Promise<string> {
  const response = await reply
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return text
}

/** What a server answers to {@link READS}, and a file of it. */
async function answersOf(server: Server, file: string): Promise<string[]> {
  const answers: string[] = []
  for (const [path, body] of READS) answers.push(await ok(server(path, body)))
  answers.push(await ok(server('/file/content', { project_id: PROJECT, digest: file })))
  return answers
}

/**
 * Fills a server with calls that were written in parts, changed and deleted, and with other things. Resolves with the
 * digest of a file.
 */
async function fill(server: Server): Promise<string> {
  const calls = Array.from({ length: CALLS }, (_, index) =>
    finishedCall({
      inputs: { text: `ü ${index}`, at: index * 1.5 },
      output: index % 7 === 0 ? null : [index],
    }),
  )
  for (let start = 0; start < CALLS; start += 500)
    await ok(server(`/v2/${PROJECT}/calls/complete`, { batch: calls.slice(start, start + 500) }))
  const [first, second, third] = calls
  await ok(server('/call/update', { project_id: PROJECT, call_id: first?.id, display_name: 'renamed' }))
  await ok(server('/calls/delete', { project_id: PROJECT, call_ids: [second?.id] }))
  const weave_ref = `weave:///${PROJECT}/call/${third?.id}`
  const feedback = { project_id: PROJECT, weave_ref, feedback_type: 'note', payload: { note: 'wörds' } }
  await ok(server('/feedback/create', { ...feedback, creator: 'ada' }))
  for (const value of [1, 2])
    await ok(server('/obj/create', { obj: { project_id: PROJECT, object_id: 'thing', val: { value } } }))
  await ok(server('/table/create', { table: { project_id: PROJECT, rows: [{ a: 1 }, { a: 2 }] } }))
  const form = new FormData()
  form.set('project_id', PROJECT)
  form.set('file', new File([Buffer.from([0, 1, 2, 255])], 'bytes.bin'))
  const { digest } = JSON.parse(await ok(server('/file/create', form))) as { digest: string }
  return digest
}

async function filled(name: string): Promise<{ config: Config; file: string; answers: string[] }> {
  const config = configOf({ HEDDLE_DATA: folder(name) })
  await using app = await openApp(config)
  const server = within(app)
  const file = await fill(server)
  // A table whose rows add up.
  const usage = { entity: 'ada', project: 'looms', model: 'm', hour: '2026-01-01 00:00:00', requests: 2 }
  await app.stores.traces.insert('completion_usage', [usage])
  await app.stores.traces.insert('completion_usage', [usage])
  // A text that PostgreSQL has no place for, which older servers stored.
  await sql`insert into projects (entity, name, created_at) values ('ada', 'a' || char(0), 'now')`.execute(
    app.stores.control,
  )
  return { config, file, answers: await answersOf(server, file) }
}

async function usageOf(config: Config): Promise<unknown> {
  await using app = await openApp(config)
  const sql = 'SELECT sum(requests) AS requests FROM completion_usage'
  for await (const row of app.stores.traces.query({ sql, params: {} })) return row
  return undefined
}

/** Gives every table that is moved {@link ROWS} rows, each with a key of its own, whatever its columns are. */
async function fillTables(traces: TraceDb): Promise<string[]> {
  const names = await movedTables(traces)
  for (const table of names) {
    const sql = `SELECT name, type FROM system.columns
      WHERE database = currentDatabase() AND table = {table:String} AND default_kind = ''`
    const columns = await rowsOf(traces.query<{ name: string; type: string }>({ sql, params: { table } }))
    const values = columns.map(({ type }) => `CAST(${columnValue(type)}, '${type.replaceAll("'", "\\'")}')`)
    const into = `${table} (${columns.map(({ name }) => name).join(', ')})`
    await traces.command({
      sql: `INSERT INTO ${into} SELECT ${values.join(', ')} FROM numbers(1, ${ROWS})`,
      params: {},
    })
  }
  return names
}

/** SQL of a value for a row, which can be made one of the type. */
function columnValue(type: string): string {
  if (type.includes('Map(')) return 'map(toString(number), number)'
  if (type.includes('Array(')) return '[toString(number)]'
  if (type.includes('Date')) return 'toString(1700000000 + number)'
  // All of them say yes or no, and one that its row is deleted.
  return type.includes('Int8') ? '0' : 'toString(number)'
}

/** All rows of a table as they are read, as JSON. */
async function textsOf(traces: TraceDb, table: string): Promise<string[]> {
  const sql = `SELECT * FROM ${table} FINAL ORDER BY ALL`
  return (await rowsOf(traces.query({ sql, params: {} }))).map((row) => JSON.stringify(row))
}

interface Watched {
  /** Called once reads are served. */
  serving?: (server: Server) => Promise<void>
  signal?: AbortSignal
  onProgress?: () => void
  log?: Log
}

async function moved(source: Config, target: Config, watched: Watched = {}): Promise<Moved> {
  let checked: Promise<void> | undefined
  const result = await move({ source, target }, watched.log ?? SILENT, {
    onServing: (url) => {
      checked = watched.serving?.(at(url))
      checked?.catch(() => undefined)
    },
    onProgress: () => watched.onProgress?.(),
    signal: watched.signal ?? new AbortController().signal,
  })
  await checked
  return result
}

it('moves a folder to servers and from there to a folder, and serves reads alone meanwhile', async () => {
  const { config: source, file, answers } = await filled('all')
  const target = configOf(await clusterSettings(folder('all-target')))
  const there = await moved(source, target, {
    async serving(server) {
      expect(await answersOf(server, file)).toEqual(answers)
      const write = await server(`/v2/${PROJECT}/calls/complete`, { batch: [finishedCall()] })
      expect(write.status).toBe(503)
      expect(Number(write.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(await write.text()).toContain('being moved')
      expect(
        (await server('/obj/create', { obj: { project_id: PROJECT, object_id: 'x', val: 1 } })).status,
      ).toBe(503)
      await eventually(async () =>
        expect(JSON.parse(await ok(server('/health')))).toMatchObject({
          status: 'degraded',
          reason: expect.stringContaining('being moved'),
        }),
      )
    },
  })
  expect(there.traceRows?.['calls']).toBe(CALLS)
  expect(there.blobs?.count).toBeGreaterThan(0)
  expect(there.replacedTexts).toEqual({ projects: 1 })
  {
    await using app = await openApp(target)
    expect(await answersOf(within(app), file)).toEqual(answers)
  }
  expect(await usageOf(target)).toEqual({ requests: 4 })
  await expect(openApp(source)).rejects.toThrow('was moved from')

  const back = configOf({ HEDDLE_DATA: folder('all-back') })
  await moved(target, back)
  {
    await using app = await openApp(back)
    expect(await answersOf(within(app), file)).toEqual(answers)
  }
  expect(await usageOf(back)).toEqual({ requests: 4 })
  await expect(openApp(target)).rejects.toThrow('was moved from')
})

it('moves more than one range of rows of every table of the trace database', async () => {
  const source = configOf({ HEDDLE_DATA: folder('tables') })
  const target = configOf(await clusterSettings(folder('tables-target')))
  const wanted = new Map<string, string[]>()
  {
    await using stores = await storesOf(source)
    for (const table of await fillTables(stores.traces))
      wanted.set(table, await textsOf(stores.traces, table))
  }
  const { traceRows } = await moved(source, target)
  expect(traceRows).toEqual(Object.fromEntries([...wanted.keys()].map((table) => [table, ROWS])))
  await using stores = await storesOf(target)
  for (const [table, rows] of wanted) expect(await textsOf(stores.traces, table), table).toEqual(rows)
})

it('serves reads to those who may read', async () => {
  const config = configOf({ HEDDLE_DATA: folder('keys'), HEDDLE_AUTH: 'keys' })
  let key = ''
  {
    await using app = await openTestApp(config.dataFolder, { auth: 'keys' })
    const { newUser } = createTestAccounts({ ...app, request: async (...args) => app.app.request(...args) })
    const ada = await newUser('ada')
    expect((await ada.post(`/v2/${PROJECT}/calls/complete`, { batch: [finishedCall()] })).status).toBe(200)
    const made = await replyOf<{ key: string }>(await ada.post('/v1/accounts/keys', { name: 'new' }))
    key = made.key
  }
  await moved(config, configOf({ HEDDLE_DATA: folder('keys-target') }), {
    async serving(server) {
      const [path, body] = READS[0]
      expect((await server(path, body)).status).toBe(401)
      expect(await ok(server(path, body, key))).toContain('"op_name":"op"')
    },
  })
})

it('goes on after it was interrupted, with what has changed since and what is broken there', async () => {
  const { config: source, file } = await filled('again')
  const target = configOf(await clusterSettings(folder('again-target')))
  for (const at of [1, 5, 12]) {
    let count = 0
    const stopping = new AbortController()
    const onProgress = () => ++count === at && stopping.abort(new Error('Interrupted'))
    await expect(moved(source, target, { onProgress, signal: stopping.signal })).rejects.toThrow(
      'Interrupted',
    )
  }
  await expect(openApp(target)).rejects.toThrow('is not finished')
  let answers: string[]
  {
    // The server was used again meanwhile.
    await using app = await openApp(source)
    const server = within(app)
    await ok(server(`/v2/${PROJECT}/calls/complete`, { batch: [finishedCall({ inputs: { late: true } })] }))
    answers = await answersOf(server, file)
  }
  await moved(source, target)
  {
    await using app = await openApp(target)
    expect(await answersOf(within(app), file)).toEqual(answers)
  }
  expect(await usageOf(target)).toEqual({ requests: 4 })
})

it('warns of stores of the data folder that are not used at a start, and not while it reads them', async () => {
  const source = configOf({ HEDDLE_DATA: folder('staying') })
  {
    await using _app = await openApp(source)
  }
  const target = configOf(await clusterSettings(source.dataFolder))
  const warnings: unknown[] = []
  const log = Object.assign(Object.create(SILENT) as Log, {
    warn: (_: unknown, message: unknown) => void warnings.push(message),
  })
  await moved(source, target, { log })
  expect(warnings).toEqual([])
  const folders = { data: target.dataFolder, workspace: target.engine.folder }
  await using _stores = await openStores(folders, log, target)
  expect(warnings).toEqual([
    expect.stringContaining('is not used while HEDDLE_CLICKHOUSE_URL is set'),
    expect.stringContaining('is not used while HEDDLE_POSTGRES_URL is set'),
  ])
})

it('says why a store refuses something, and does not promise that the same command goes on', async () => {
  const { config: source } = await filled('why')
  const target = configOf({ HEDDLE_DATA: folder('why-target') })
  await mkdir(target.dataFolder)
  await copyFile(join(source.dataFolder, 'secret.key'), join(target.dataFolder, 'secret.key'))
  {
    await using stores = await storesOf(target)
    const sql = 'ALTER TABLE feedback ADD CONSTRAINT none_here CHECK 0'
    await stores.traces.command({ sql, params: {} })
  }
  const refused = await moved(source, target).catch(String)
  expect(refused).toContain('none_here')
  expect(refused).not.toContain('the same command')
})

it('refuses a place that has data, and one with another key', async () => {
  const { config: source } = await filled('refused')
  const other = configOf({ HEDDLE_DATA: folder('other') })
  {
    await using app = await openApp(other)
    await ok(within(app)(`/v2/${PROJECT}/calls/complete`, { batch: [finishedCall()] }))
  }
  await expect(moved(source, other)).rejects.toThrow('another secret key')
  const elsewhere = { ...(await clusterSettings(folder('elsewhere'))), HEDDLE_SECRET_KEY: 'x'.repeat(40) }
  await expect(moved(source, configOf(elsewhere))).rejects.toThrow('another secret key')
  const staying = { ...elsewhere, HEDDLE_DATA: source.dataFolder }
  await expect(moved(source, configOf(staying))).rejects.toThrow('another secret key')
  await expect(moved(source, source)).rejects.toThrow('All stores are where they are')
})
