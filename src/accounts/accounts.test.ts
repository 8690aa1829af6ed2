import { describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../testing.ts'
import { requestOf, spanOf } from '../trace/otlp/test-spans.ts'
import { createTestAccounts } from './test-accounts.ts'

const server = useTestServer({
  auth: 'keys',
  publicAddress: (reached) => reached.replace('localhost', 'loom.example'),
})

const { as, operator: operatorClient, newUser: newClient, cookieOf } = createTestAccounts(server)

async function operator(): Promise<string> {
  return (await operatorClient()).key
}

async function newUser(name: string): Promise<string> {
  return (await newClient(name)).key
}

describe('POST /v1/accounts/session', () => {
  it('200 with a cookie that scripts cannot read, once for each link', async () => {
    const made = await replyOf(await as(await operator()).post('/v1/accounts/users', { name: 'once' }))
    expect(made['sign_in_url']).toMatch(/^http:\/\/loom\.example\/sign-in#/)
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

  it('422 for a misspelt limit, which names it, and no key', async () => {
    const user = as(await newUser('lim'))
    for (const name of ['project', 'scopes', 'expires_at']) {
      const refused = await user.post('/v1/accounts/keys', { name: 'ci', [name]: 'lim/one' })
      expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining(name)])
    }
    expect(await replyOf(await user.get('/v1/accounts/keys'))).toMatchObject({ data: [{ name: 'laptop' }] })
  })
})

describe('what a key may do', () => {
  it('400 for a key of what is no project', async () => {
    const key = await newUser('dan')
    for (const project_id of ['dan', 'dan/', '/one', 'dan/one/two'])
      expect((await as(key).post('/v1/accounts/keys', { name: 'k', project_id })).status).toBe(400)
  })

  it('403 for feedback of another user that a key which may only add would replace', async () => {
    const key = await newUser('fin')
    const made = await replyOf(
      await as(key).post('/v1/accounts/teams/fin/service-accounts', { name: 'fin-ci' }),
    )
    expect(made['role']).toBe('member')
    const ingest = await replyOf(
      await as(key).post('/v1/accounts/keys', { name: 'k', user: 'fin-ci', scope: 'ingest' }),
    )
    const client = as(String(ingest['key']))
    const feedback = (id: string, note: string) => ({
      id,
      project_id: 'fin/one',
      weave_ref: 'weave:///fin/one/call/1',
      feedback_type: 'wandb.note.1',
      payload: { note },
    })
    await replyOf(await as(key).post('/feedback/create', feedback('f1', 'mine')))
    expect((await client.post('/feedback/create', feedback('f1', 'forged'))).status).toBe(403)
    const batch = [feedback('f2', 'new'), feedback('f1', 'forged')]
    expect((await client.post('/feedback/batch/create', { batch })).status).toBe(403)
    // Its own may be sent again, as clients do that got no answer.
    for (const note of ['a', 'b'])
      expect((await client.post('/feedback/create', feedback('f3', note))).status).toBe(200)
    const { result } = await replyOf<{ result: Fields[] }>(
      await as(key).post('/feedback/query', { project_id: 'fin/one' }),
    )
    expect(result.map(({ id, payload }) => [id, payload])).toEqual([
      ['f1', { note: 'mine' }],
      ['f3', { note: 'b' }],
    ])
  })

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
    // A monitor has the server read calls, and send them elsewhere.
    const publish = (_class_name: string) => {
      const val = { _type: _class_name, _class_name, _bases: ['Object', 'BaseModel'] }
      return ingest.post('/obj/create', { obj: { project_id: 'dee/one', object_id: 'o', val } })
    }
    expect((await publish('Monitor')).status).toBe(403)
    expect((await publish('Prompt')).status).toBe(200)
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

describe('POST /otel/v1/traces', () => {
  it('403 for spans whose resource names a project of others, whatever project the request names', async () => {
    const key = await newUser('otto')
    await newUser('olga')
    const send = (entity: string) =>
      server.request('/otel/v1/traces', {
        method: 'POST',
        headers: {
          authorization: '',
          'wandb-api-key': key,
          'content-type': 'application/json',
          project_id: 'otto/own',
        },
        body: JSON.stringify(requestOf([spanOf()], { 'wandb.entity': entity, 'wandb.project': 'other' })),
      })
    expect((await send('olga')).status).toBe(403)
    expect((await send('otto')).status).toBe(200)
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

describe('GET and POST /v1/accounts/users, PUT /v1/accounts/users/{user} and POST /v1/accounts/users/{user}/sign-in-link', () => {
  it('200 for operators, 403 for others', async () => {
    const key = await newUser('nat')
    expect((await as(key).get('/v1/accounts/users')).status).toBe(403)
    expect((await as(key).post('/v1/accounts/users/nat/sign-in-link', {})).status).toBe(403)
    const { data } = await replyOf<{ data: Fields[] }>(
      await as(await operator()).get('/v1/accounts/users?limit=100'),
    )
    expect(data.map(({ name }) => name)).toContain('nat')
    const link = await replyOf(await as(await operator()).post('/v1/accounts/users/nat/sign-in-link', {}))
    expect(link['sign_in_url']).toMatch(/^http:\/\/loom\.example\/sign-in#/)
    expect(await cookieOf(String(link['sign_in_url']))).toContain('heddle_session=')
  })

  it('409 for a name that is taken, or what would leave no operator; 400 for what is no name', async () => {
    const users = (await operatorClient()).post
    expect((await users('/v1/accounts/users', { name: 'admin' })).status).toBe(409)
    expect((await users('/v1/accounts/users', { name: 'a/b' })).status).toBe(400)
    const change = (await operatorClient()).put('/v1/accounts/users/admin', { is_operator: false })
    expect((await change).status).toBe(409)
  })
})

describe('GET and POST /v1/accounts/teams, GET /v1/accounts/teams/{entity}/members and DELETE /v1/accounts/teams/{entity}/members/{user}', () => {
  it('200 with the teams and members that the caller may see', async () => {
    const key = await newUser('oda')
    await replyOf(await as(await operator()).post('/v1/accounts/teams', { name: 'team-o', admin: 'oda' }))
    const { data } = await replyOf<{ data: Fields[] }>(await as(key).get('/v1/accounts/teams'))
    expect(data.map(({ name, kind }) => [name, kind])).toEqual([
      ['oda', 'personal'],
      ['team-o', 'team'],
    ])
    const members = await replyOf(await as(key).get('/v1/accounts/teams/team-o/members'))
    expect(members).toEqual({
      data: [{ user: 'oda', email: null, kind: 'person', role: 'admin', disabled: false }],
    })
    expect((await as(await newUser('pia')).get('/v1/accounts/teams/team-o/members')).status).toBe(403)
  })

  it('409 for the owner of a personal entity, who stays its admin', async () => {
    const owner = await newUser('uma')
    const other = await newUser('val')
    await replyOf(await as(owner).put('/v1/accounts/teams/uma/members/val', { role: 'admin' }))
    expect((await as(other).delete('/v1/accounts/teams/uma/members/uma')).status).toBe(409)
    const demoted = await as(other).put('/v1/accounts/teams/uma/members/uma', { role: 'viewer' })
    expect(demoted.status).toBe(409)
    expect((await as(owner).delete('/v1/accounts/teams/uma/members/val')).status).toBe(200)
    expect((await as(owner).get('/v1/accounts/keys')).status).toBe(200)
  })
})

describe('POST /v1/accounts/teams/{entity}/service-accounts', () => {
  it('200 with a user for programs, whose keys admins of the team make', async () => {
    const key = await newUser('quin')
    await replyOf(await as(key).post('/v1/accounts/teams/quin/service-accounts', { name: 'quin-ci' }))
    const made = await replyOf(
      await as(key).post('/v1/accounts/keys', { name: 'ci', user: 'quin-ci', scope: 'ingest' }),
    )
    expect(await replyOf(await as(String(made['key'])).get('/v1/accounts/me'))).toMatchObject({
      user: 'quin-ci',
      default_entity: 'quin',
      entities: [{ name: 'quin', role: 'member' }],
    })
    const other = await as(await newUser('ria')).post('/v1/accounts/keys', { name: 'x', user: 'quin-ci' })
    expect(other.status).toBe(404)
  })
})

describe('PUT /v1/accounts/users/{user}', () => {
  it('409 for a service account that is to be an operator, whose keys admins of its team make', async () => {
    const key = await newUser('wes')
    await replyOf(await as(key).post('/v1/accounts/teams/wes/service-accounts', { name: 'wes-ci' }))
    const { put } = await operatorClient()
    expect((await put('/v1/accounts/users/wes-ci', { is_operator: true })).status).toBe(409)
    expect((await put('/v1/accounts/users/wes-ci', { is_operator: false })).status).toBe(200)
  })
})

describe('GET /v1/accounts/me', () => {
  it('200 with the entities in which the key may do anything', async () => {
    const [own, other] = [await newUser('xia'), await newUser('xul')]
    await replyOf(await as(other).put('/v1/accounts/teams/xul/members/xia', { role: 'viewer' }))
    const entitiesOf = async (limits: object) => {
      const made = await replyOf(await as(own).post('/v1/accounts/keys', { name: 'key', ...limits }))
      const me = await replyOf<{ entities: { name: string }[] }>(
        await as(String(made['key'])).get('/v1/accounts/me'),
      )
      return me.entities.map(({ name }) => name).sort()
    }
    expect(await entitiesOf({})).toEqual(['xia', 'xul'])
    expect(await entitiesOf({ scope: 'read' })).toEqual(['xia', 'xul'])
    expect(await entitiesOf({ scope: 'ingest' })).toEqual(['xia'])
    expect(await entitiesOf({ project_id: 'xul/p' })).toEqual(['xul'])
  })
})

describe('GET /v1/accounts/me, /v1/accounts/sign-in-options, /v1/accounts/keys, DELETE /v1/accounts/keys/{key_id} and DELETE /v1/accounts/session', () => {
  it('200 with the mode of the server, without a key', async () => {
    const options = await server.request('/v1/accounts/sign-in-options', { headers: { authorization: '' } })
    expect(await replyOf(options)).toEqual({ auth: 'keys', single_sign_on: false })
  })

  it('401 for a session after its end', async () => {
    await newUser('sam')
    const link = await replyOf(await as(await operator()).post('/v1/accounts/users/sam/sign-in-link', {}))
    const headers = {
      authorization: '',
      cookie: await cookieOf(String(link['sign_in_url'])),
      'x-heddle-page': '1',
    }
    expect((await server.request('/v1/accounts/me', { headers })).status).toBe(200)
    expect((await server.request('/v1/accounts/session', { method: 'DELETE', headers })).status).toBe(200)
    expect((await server.request('/v1/accounts/me', { headers })).status).toBe(401)
  })

  it('404 for a key of somebody else, as for none', async () => {
    const { data } = await replyOf<{ data: Fields[] }>(
      await as(await newUser('tom')).get('/v1/accounts/keys'),
    )
    const other = await as(await newUser('una')).delete(`/v1/accounts/keys/${data[0]?.['id']}`)
    expect(other.status).toBe(404)
  })
})

describe('GET /v1/accounts/audit/export', () => {
  it('403 for all events where the caller is no operator', async () => {
    expect((await as(await newUser('vic')).get('/v1/accounts/audit/export')).status).toBe(403)
  })
})
