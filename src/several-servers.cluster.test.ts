import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedis, type TestRedis } from '../tests/cluster/redis.ts'
import { createTestAccounts, type KeyClient, type TestAccounts } from './accounts/test-accounts.ts'
import { newId } from './ids.ts'
import { openTestApp, type TestApp, type TestAppOptions } from './test-app.ts'
import { eventually } from './test-eventually.ts'
import { documentsOf, type Fields, replyOf, storesOnServers } from './testing.ts'
import { finishedCall } from './trace/test-calls.ts'

/** Two servers over the same stores; the first one runs no jobs. */
interface Servers extends AsyncDisposable {
  api: TestApp
  other: TestApp
}

const KEY = 'Bearer test-key'

async function openServers(options: TestAppOptions, redis?: TestRedis): Promise<Servers> {
  await using opening = new AsyncDisposableStack()
  const shared = { servers: 'several' as const, secretKey: newId(), redis }
  const stores = { ...(await storesOnServers()), ...shared }
  async function open(role: 'all' | 'api'): Promise<TestApp> {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-several-'))
    opening.defer(() => rm(folder, { recursive: true, force: true }))
    return opening.use(await openTestApp(folder, { ...options, stores, role }))
  }
  const [api, other] = await Promise.all([open('api'), open('all')])
  const opened = opening.move()
  return { api, other, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function request({ app }: TestApp, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: KEY, ...(init.headers as Record<string, string> | undefined) }
  return Promise.resolve(app.request(path, { ...init, headers }))
}

const post = (server: TestApp, path: string, body: unknown, method = 'POST'): Promise<Response> =>
  request(server, path, { method, body: JSON.stringify(body) })

describe.each(['PostgreSQL', 'Redis'])('two servers with accounts that send messages through %s', (way) => {
  const opened = new AsyncDisposableStack()
  let servers: Servers
  let here: TestAccounts
  /** The same key, at the other server. */
  let there: (client: KeyClient) => KeyClient
  beforeAll(async () => {
    const redis = way === 'Redis' ? opened.use(await startRedis()) : undefined
    servers = opened.use(await openServers({ auth: 'keys' }, redis))
    const accountsOf = (server: TestApp): TestAccounts =>
      createTestAccounts({ ...server, request: (path, init) => request(server, path, init) })
    here = accountsOf(servers.api)
    const others = accountsOf(servers.other)
    there = ({ key }) => others.as(key)
  })
  afterAll(() => opened.disposeAsync())

  const keysPath = '/v1/accounts/keys'

  it('accept a key that the other one made, until it is revoked there', async () => {
    const ada = await here.newUser('ada')
    const made = await replyOf<{ id: string; key: string }>(await ada.post(keysPath, { name: 'second' }))
    const second = here.as(made.key)
    expect((await there(second).get(keysPath)).status).toBe(200)
    expect((await second.get(keysPath)).status).toBe(200)
    expect((await there(ada).delete(`${keysPath}/${made.id}`)).status).toBe(200)
    await eventually(async () => expect((await second.get(keysPath)).status).toBe(401))
  })

  it('give and take away rights for each other', async () => {
    const operator = await here.operator()
    const bob = await here.newUser('bob')
    await replyOf(await operator.post('/v1/accounts/teams', { name: 'weavers', admin: 'bob' }))
    const project = '/v2/weavers/cloth/calls/complete'
    await eventually(async () => {
      expect((await there(bob).post(project, { batch: [finishedCall()] })).status).toBe(200)
    })
    await replyOf(await operator.put('/v1/accounts/users/bob', { disabled: true }))
    await eventually(async () => expect((await there(bob).get(keysPath)).status).toBe(401))
  })

  it('count requests for one limit together', async () => {
    const cara = await here.newUser('cara')
    const { data } = await replyOf<{ data: { id: string }[] }>(await cara.get(keysPath))
    const limits = { requests_per_minute: 40 }
    const operator = await here.operator()
    await replyOf(await operator.put(`${keysPath}/${data[0]?.id}/limits`, limits))
    await eventually(async () => {
      const reply = await there(cara).get(keysPath)
      expect(reply.headers.get('x-ratelimit-limit-requests')).toBe('40')
    })
    for (let sent = 0; sent < 30; sent++) await cara.get(keysPath)
    await eventually(async () => {
      const reply = await there(cara).get(keysPath)
      expect(Number(reply.headers.get('x-ratelimit-remaining-requests') ?? 0)).toBeLessThan(12)
    })
  })

  it('count what a team stores for one limit together', async () => {
    const dora = await here.newUser('dora')
    const operator = await here.operator()
    await replyOf(await operator.post('/v1/accounts/teams', { name: 'storers', admin: 'dora' }))
    const path = '/v1/accounts/teams/storers/limits'
    const store = async (client: KeyClient, bytes: number): Promise<number> => {
      const batch = [finishedCall({ inputs: { text: 'x'.repeat(bytes) } })]
      return (await client.post('/v2/storers/cloth/calls/complete', { batch })).status
    }
    const usedAt = async (client: KeyClient): Promise<number | null> =>
      (await replyOf<{ storage_bytes_used: number | null }>(await client.get(path))).storage_bytes_used
    expect(await store(dora, 2_000)).toBe(200)
    await replyOf(await operator.put(path, { storage_bytes: 20_000 }))
    await eventually(async () => expect(await usedAt(there(dora))).toBeGreaterThan(2_000))
    expect(await store(dora, 10_000)).toBe(200)
    await eventually(async () => expect(await usedAt(there(dora))).toBeGreaterThan(12_000))
    expect(await store(there(dora), 9_000)).toBe(402)
    expect(await store(there(dora), 4_000)).toBe(200)
    await eventually(async () => expect(await store(dora, 5_000)).toBe(402))
    await replyOf(await operator.put(path, {}))
    await eventually(async () => expect(await usedAt(there(dora))).toBeNull())
    expect(await store(there(dora), 30_000)).toBe(200)
  })
})

describe('two servers over the same stores', () => {
  let servers: Servers
  beforeAll(async () => {
    servers = await openServers({})
  })
  afterAll(() => servers[Symbol.asyncDispose]())

  const write = async (server: TestApp, project: string, fields: Fields = {}): Promise<Response> =>
    post(server, `/v2/${project}/calls/complete`, { batch: [finishedCall(fields)] })
  const read = async (server: TestApp, project_id: string): Promise<Fields[]> =>
    documentsOf(await post(server, '/calls/stream_query', { project_id }))

  it('read at once what the other one wrote', async () => {
    const { api, other } = servers
    const project = `test/${newId()}`
    for (let count = 1; count <= 10; count += 2) {
      expect((await write(api, project)).status).toBe(200)
      expect(await read(other, project)).toHaveLength(count)
      expect((await write(other, project)).status).toBe(200)
      expect(await read(api, project)).toHaveLength(count + 1)
    }
  })

  it('redact by rules that were set at the other one', async () => {
    const { api, other } = servers
    const project = `test/${newId()}`
    // Both know that there are none.
    for (const server of [api, other]) await write(server, project, { inputs: { to: 'me@x.org' } })
    const rules = [{ name: 'mails', match: 'builtin', builtin: 'email', action: 'mask' }]
    await replyOf(await post(api, `/v2/${project}/redaction`, { rules }, 'PUT'))
    await eventually(async () => {
      const op_name = newId()
      await write(other, project, { op_name, inputs: { to: 'me@x.org' } })
      const calls = await read(other, project)
      expect(calls.find((call) => call['op_name'] === op_name)).toMatchObject({
        inputs: { to: '[redacted]' },
      })
    })
  })

  it('close a project that is being erased by the other one', async () => {
    const { api, other } = servers
    const project = `test/${newId()}`
    for (const server of [api, other]) expect((await write(server, project)).status).toBe(200)
    await replyOf(await request(api, `/v2/${project}`, { method: 'DELETE' }))
    for (const server of [api, other])
      await eventually(async () => {
        expect((await write(server, project)).status).toBe(404)
        expect((await post(server, '/calls/stream_query', { project_id: project })).status).toBe(404)
      })
  })

  it('read a file while it arrives at the other one', async () => {
    const { api, other } = servers
    const project_id = `test/${newId()}`
    const bytes = newId().repeat(10)
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new File([bytes], 'a.txt'))
    const digest = replyOf<{ digest: string }>(
      await request(api, '/file/create', { method: 'POST', body: form }),
    )
    const found = await post(other, '/file/content', { project_id, digest: (await digest).digest })
    expect(await found.text()).toBe(bytes)
  })

  it('run jobs that a server without a worker adds', async () => {
    const { api, other } = servers
    const project = `test/${newId()}`
    await write(api, project)
    const { id } = await replyOf<{ id: string }>(await request(api, `/v2/${project}`, { method: 'DELETE' }))
    const jobs = other.stores.control.selectFrom('jobs').select('started_at').where('id', '=', id)
    await eventually(async () => {
      const row = await jobs.executeTakeFirst()
      expect(row === undefined || row.started_at !== null).toBe(true)
    })
  })
})

describe('a server whose role is worker', () => {
  it('answers health checks and metrics, and 404 to all else', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-worker-'))
    const stores = { ...(await storesOnServers()), servers: 'several' as const, secretKey: newId() }
    {
      await using worker = await openTestApp(folder, { stores, role: 'worker' })
      await eventually(async () => expect((await request(worker, '/health')).status).toBe(200))
      expect((await request(worker, '/metrics')).status).toBe(200)
      expect((await post(worker, '/calls/stream_query', { project_id: 'a/b' })).status).toBe(404)
    }
    await rm(folder, { recursive: true, force: true })
  })
})
