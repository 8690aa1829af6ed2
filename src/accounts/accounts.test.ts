import { describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../testing.ts'

const server = useTestServer({ auth: 'keys' })

/** Requests in the name of a key. */
function as(key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const send = (method: string, path: string, body?: unknown) =>
    server.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return {
    get: (path: string) => send('GET', path),
    post: (path: string, body: unknown) => send('POST', path, body),
    put: (path: string, body: unknown) => send('PUT', path, body),
    delete: (path: string) => send('DELETE', path),
  }
}

/** The cookie of a browser that follows a sign-in link. */
async function cookieOf(link: string): Promise<string> {
  const token = link.split('#')[1]
  const response = await server.request('/v1/accounts/session', {
    method: 'POST',
    headers: { authorization: '', 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  })
  expect(response.status).toBe(200)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

let operatorKey: Promise<string> | undefined

/** A key of the first operator, who signs in by the link that the first start prints. */
function operator(): Promise<string> {
  operatorKey ??= (async () => {
    const link = await server.accounts.sessions.firstSignIn()
    const cookie = await cookieOf(link ?? '')
    const response = await server.request('/v1/accounts/keys', {
      method: 'POST',
      headers: { authorization: '', cookie, 'x-heddle-page': '1' },
      body: JSON.stringify({ name: 'first' }),
    })
    return String((await replyOf(response))['key'])
  })()
  return operatorKey
}

/** A new user with a key without limits. */
async function newUser(name: string): Promise<string> {
  const made = await replyOf(await as(await operator()).post('/v1/accounts/users', { name }))
  const cookie = await cookieOf(String(made['sign_in_url']))
  const response = await server.request('/v1/accounts/keys', {
    method: 'POST',
    headers: { authorization: '', cookie, 'x-heddle-page': '1' },
    body: JSON.stringify({ name: 'laptop' }),
  })
  return String((await replyOf(response))['key'])
}

describe('POST /v1/accounts/session', () => {
  it('200 with a cookie that scripts cannot read, once for each link', async () => {
    const made = await replyOf(await as(await operator()).post('/v1/accounts/users', { name: 'once' }))
    const token = String(made['sign_in_url']).split('#')[1]
    const signIn = () =>
      server.request('/v1/accounts/session', {
        method: 'POST',
        headers: { authorization: '' },
        body: JSON.stringify({ token }),
      })
    const first = await signIn()
    expect(first.headers.get('set-cookie')).toMatch(/^heddle_session=\w+; Path=\/; HttpOnly; SameSite=Lax/)
    expect((await signIn()).status).toBe(401)
  })

  it('401 for a cookie without the header that pages send, which another site cannot', async () => {
    const made = await replyOf(await as(await operator()).post('/v1/accounts/users', { name: 'csrf' }))
    const cookie = await cookieOf(String(made['sign_in_url']))
    const read = (headers: Record<string, string>) =>
      server.request('/v1/accounts/me', { headers: { authorization: '', cookie, ...headers } })
    expect((await read({})).status).toBe(401)
    expect(await replyOf(await read({ 'x-heddle-page': '1' }))).toMatchObject({ user: 'csrf' })
  })
})

describe('POST /v1/accounts/keys', () => {
  it('200 with a key that clients accept, and whose text is nowhere stored', async () => {
    const key = await newUser('ann')
    expect(key).toMatch(/^heddle_\w{10}-\w{40}$/)
    const { data } = await replyOf<{ data: Fields[] }>(await as(key).get('/v1/accounts/keys'))
    expect(data).toMatchObject([{ name: 'laptop', user: 'ann', scope: 'all', prefix: key.slice(7, 17) }])
    const rows = await server.stores.control.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(key.slice(-40))
  })

  it('401 from the moment when a key is revoked, expired, or its user disabled', async () => {
    const key = await newUser('bob')
    const short = await replyOf(await as(key).post('/v1/accounts/keys', { name: 'x', expires_in_days: 1e-9 }))
    expect((await as(String(short['key'])).get('/v1/accounts/me')).status).toBe(401)
    const second = await replyOf(await as(key).post('/v1/accounts/keys', { name: 'y' }))
    expect((await as(String(second['key'])).get('/v1/accounts/me')).status).toBe(200)
    await replyOf(await as(key).delete(`/v1/accounts/keys/${second['id']}`))
    expect((await as(String(second['key'])).get('/v1/accounts/me')).status).toBe(401)
    await replyOf(await as(await operator()).put('/v1/accounts/users/bob', { disabled: true }))
    expect((await as(key).get('/v1/accounts/me')).status).toBe(401)
  })

  it('403 for a key with limits, which must not make one without', async () => {
    const key = await newUser('cid')
    for (const limits of [{ scope: 'read' }, { project_id: 'cid/one' }]) {
      const narrow = await replyOf(await as(key).post('/v1/accounts/keys', { name: 'narrow', ...limits }))
      const made = await as(String(narrow['key'])).post('/v1/accounts/keys', { name: 'wide' })
      expect(made.status).toBe(403)
    }
  })
})

describe('what a key may do', () => {
  it('200 for what its scope and project allow, 403 for the rest', async () => {
    const key = await newUser('dee')
    const keyOf = async (limits: object) =>
      as(String((await replyOf(await as(key).post('/v1/accounts/keys', { name: 'k', ...limits })))['key']))
    const write = {
      start: { project_id: 'dee/one', op_name: 'op', started_at: '2026-01-01', attributes: {}, inputs: {} },
    }
    const read = { project_id: 'dee/one' }
    const ingest = await keyOf({ scope: 'ingest' })
    expect((await ingest.post('/call/start', write)).status).toBe(200)
    expect((await ingest.post('/calls/query_stats', read)).status).toBe(403)
    const reading = await keyOf({ scope: 'read' })
    expect((await reading.post('/call/start', write)).status).toBe(403)
    expect((await reading.post('/calls/query_stats', read)).status).toBe(200)
    const one = await keyOf({ project_id: 'dee/one' })
    expect((await one.post('/calls/query_stats', read)).status).toBe(200)
    expect((await one.post('/calls/query_stats', { project_id: 'dee/two' })).status).toBe(403)
  })

  it('403 for what a role forbids, and for entities of others, whether they exist or not', async () => {
    const owner = await newUser('eve')
    const viewer = await newUser('fay')
    await replyOf(await as(await operator()).post('/v1/accounts/teams', { name: 'team-e', admin: 'eve' }))
    const member = { role: 'viewer' }
    expect((await as(viewer).put('/v1/accounts/teams/team-e/members/fay', member)).status).toBe(403)
    await replyOf(await as(owner).put('/v1/accounts/teams/team-e/members/fay', member))
    const write = {
      start: { project_id: 'team-e/p', op_name: 'op', started_at: '2026-01-01', attributes: {}, inputs: {} },
    }
    expect((await as(owner).post('/call/start', write)).status).toBe(200)
    expect((await as(viewer).post('/call/start', write)).status).toBe(403)
    expect((await as(viewer).post('/calls/query_stats', { project_id: 'team-e/p' })).status).toBe(200)
    const other = await newUser('gus')
    const replies = await Promise.all(
      ['team-e/p', 'team-e/none', 'nobody/none'].map(async (project_id) => {
        const reply = await as(other).post('/calls/query_stats', { project_id })
        return [reply.status, (await reply.text()).replace(project_id, '')]
      }),
    )
    expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1)
    expect(replies[0]?.[0]).toBe(403)
  })
})

describe('PUT /v1/accounts/teams/{entity}/members/{user}', () => {
  it('409 for what would leave a team without an admin', async () => {
    const key = await newUser('hal')
    const response = await as(key).put('/v1/accounts/teams/hal/members/hal', { role: 'viewer' })
    expect(response.status).toBe(409)
  })

  it('takes effect at once', async () => {
    const key = await newUser('ida')
    const read = () => as(key).post('/calls/query_stats', { project_id: 'team-i/p' })
    await replyOf(await as(await operator()).post('/v1/accounts/teams', { name: 'team-i' }))
    expect((await read()).status).toBe(403)
    await replyOf(await as(await operator()).put('/v1/accounts/teams/team-i/members/ida', { role: 'member' }))
    expect((await read()).status).toBe(200)
    await replyOf(await as(await operator()).delete('/v1/accounts/teams/team-i/members/ida'))
    expect((await read()).status).toBe(403)
  })
})

describe('GET /v1/accounts/audit', () => {
  it('200 with who did what, for operators and admins of the entity alone', async () => {
    const key = await newUser('jon')
    await replyOf(await as(key).post('/v1/accounts/keys', { name: 'audited' }))
    const { data } = await replyOf<{ data: Fields[] }>(await as(key).get('/v1/accounts/audit?entity=jon'))
    expect(data.map(({ action, actor }) => [action, actor])).toEqual([
      ['key.create', 'jon'],
      ['key.create', 'jon'],
    ])
    expect((await as(key).get('/v1/accounts/audit')).status).toBe(403)
    expect((await as(await newUser('kim')).get('/v1/accounts/audit?entity=jon')).status).toBe(403)
    expect(await (await as(await operator()).get('/v1/accounts/audit/export')).text()).toContain(
      'user.create',
    )
  })
})

describe('POST /graphql', () => {
  it('200 with the truth about the viewer, and null for entities of others', async () => {
    const key = await newUser('lea')
    const query = `query { viewer { username admin defaultEntity { name } teams { edges { node { name isTeam } } } }
      own: entity(name: "lea") { name } other: entity(name: "jon") { name }
      project(name: "x", entityName: "jon") { name } }`
    expect(await replyOf(await as(key).post('/graphql', { query }))).toMatchObject({
      data: {
        viewer: {
          username: 'lea',
          admin: false,
          defaultEntity: { name: 'lea' },
          teams: { edges: [{ node: { name: 'lea', isTeam: false } }] },
        },
        own: { name: 'lea' },
        other: null,
        project: null,
      },
    })
  })

  it('200 with PERMISSION_ERROR for changes of projects of others', async () => {
    const key = await newUser('max')
    const query = 'mutation { upsertModel(input: { name: "p", entityName: "lea" }) { inserted } }'
    expect(await replyOf(await as(key).post('/graphql', { query }))).toMatchObject({
      errors: [{ extensions: { code: 'PERMISSION_ERROR' } }],
    })
  })
})
