import { describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'

const server = useTestServer({ auth: 'keys' })
const { as, operator, newUser } = createTestAccounts(server)

async function newTeam(name: string, admin?: string): Promise<void> {
  await replyOf(await (await operator()).post('/v1/accounts/teams', { name, ...(admin && { admin }) }))
}

const defaultOf = async (client: KeyClient) =>
  (await replyOf(await client.get('/v1/accounts/me')))['default_entity']

const startIn = (project_id: string) => ({
  project_id,
  op_name: 'op',
  started_at: '2026-01-01T00:00:00Z',
  attributes: {},
  inputs: {},
})

const membersPath = (team: string, user = '') => `/v1/accounts/teams/${team}/members${user && `/${user}`}`

describe('PUT /v1/accounts/teams/{entity}/members/{user}', () => {
  it('200 and the first team is where requests go that name none, if an operator adds the user to it', async () => {
    const ada = await newUser('ada')
    await newTeam('looms')
    await replyOf(await (await operator()).put(membersPath('looms', 'ada'), { role: 'member' }))
    expect(await defaultOf(ada)).toBe('looms')
  })

  it('200 and requests of the user go where they went, if another admin adds the user', async () => {
    const bob = await newUser('bob')
    const eve = await newUser('eve')
    await replyOf(await eve.put(membersPath('eve', 'bob'), { role: 'member' }))
    expect(await defaultOf(bob)).toBe('bob')
    expect((await eve.get('/v1/accounts/keys?user=bob')).status).toBe(403)
  })

  it('404 for operators and a team that does not exist, which is not made', async () => {
    await newUser('abe')
    const { get, put } = await operator()
    for (const role of ['member', 'admin']) {
      const refused = await put(membersPath('reserch', 'abe'), { role })
      expect([refused.status, await refused.text()]).toEqual([
        404,
        expect.stringContaining('team reserch not'),
      ])
    }
    const { data } = await replyOf<{ data: Fields[] }>(await get('/v1/accounts/teams'))
    expect(data.map(({ name }) => name)).not.toContain('reserch')
  })

  it('200 with mail addresses for operators alone, as in the list of members', async () => {
    const cid = await newUser('cid')
    const dan = { name: 'dan', email: 'dan@mail.test' }
    await replyOf(await (await operator()).post('/v1/accounts/users', dan))
    const put = (client: KeyClient) => client.put(membersPath('cid', 'dan'), { role: 'viewer' })
    expect(await replyOf(await put(cid))).toMatchObject({ user: 'dan', email: null })
    expect(await replyOf(await put(await operator()))).toMatchObject({ user: 'dan', email: dan.email })
    const addresses = async (client: KeyClient) => {
      const { data } = await replyOf<{ data: Fields[] }>(await client.get(membersPath('cid')))
      return data.map(({ email }) => email)
    }
    expect(await addresses(cid)).toEqual([null, null])
    expect(await addresses(await operator())).toEqual([null, dan.email])
  })
})

describe('GET /v1/accounts/teams/{entity}/members, …/limits, …/budgets and …/identity-providers', () => {
  it('404 for a team that does not exist', async () => {
    await newTeam('heddles')
    const { get, put } = await operator()
    for (const of of ['members', 'limits', 'budgets', 'identity-providers']) {
      const statuses = [
        await get(`/v1/accounts/teams/heddles/${of}`),
        await get(`/v1/accounts/teams/weft/${of}`),
      ]
      expect([of, ...statuses.map(({ status }) => status)]).toEqual([of, 200, 404])
    }
    expect((await put('/v1/accounts/teams/weft/identity-providers', { data: [] })).status).toBe(404)
  })
})

describe('DELETE /v1/accounts/teams/{entity}/members/{user}', () => {
  it('200 and one record of a removal that is repeated, 409 for the last admin, 404 for an unknown team', async () => {
    const ned = await newUser('ned')
    await newUser('nia')
    const { delete: remove } = await operator()
    await replyOf(await ned.put(membersPath('ned', 'nia'), { role: 'admin' }))
    await newTeam('bobbins', 'nia')
    for (const removed of [true, false])
      expect(await replyOf(await ned.delete(membersPath('ned', 'nia')))).toEqual({ removed })
    const events = await ned.get('/v1/accounts/audit?entity=ned&action=member.remove')
    expect((await replyOf<{ data: Fields[] }>(events)).data).toHaveLength(1)
    expect((await remove(membersPath('bobbins', 'nia'))).status).toBe(409)
    expect((await remove(membersPath('nosuch', 'nia'))).status).toBe(404)
  })

  it('200 for members of a team that has no admin any more, whose roles change too', async () => {
    for (const name of ['oda', 'olo', 'ole']) await newUser(name)
    await newTeam('treadles', 'oda')
    const { put, delete: remove } = await operator()
    for (const name of ['olo', 'ole'])
      await replyOf(await put(membersPath('treadles', name), { role: 'member' }))
    const { control } = server.stores
    await control
      .deleteFrom('memberships')
      .where('entity', '=', 'treadles')
      .where('role', '=', 'admin')
      .execute()
    expect(await replyOf(await remove(membersPath('treadles', 'olo')))).toEqual({ removed: true })
    expect((await put(membersPath('treadles', 'ole'), { role: 'viewer' })).status).toBe(200)
  })
})

describe('names of users', () => {
  it('cannot be found out by those who share no team with them', async () => {
    const [lyn, mac] = [await newUser('lyn'), await newUser('mac')]
    await replyOf(await lyn.post('/v1/accounts/teams/lyn/service-accounts', { name: 'lyn-ci' }))
    const askAbout = async (name: string) => {
      const replies = [
        await mac.get(`/v1/accounts/keys?user=${name}`),
        await mac.post('/v1/accounts/keys', { name: 'key', user: name }),
        await mac.delete(membersPath('mac', name)),
      ]
      return Promise.all(
        replies.map(async (reply) => [reply.status, (await reply.text()).replaceAll(name, 'NAME')]),
      )
    }
    const ofNobody = await askAbout('nobody')
    expect(ofNobody.map(([status]) => status)).toEqual([404, 404, 200])
    expect(await askAbout('lyn-ci')).toEqual(ofNobody)
    expect(await askAbout('lyn')).toEqual(ofNobody)
  })

  it('are known in their teams: 403 for members who do not manage their keys', async () => {
    const [lux, mio] = [await newUser('lux'), await newUser('mio')]
    await replyOf(await lux.post('/v1/accounts/teams/lux/service-accounts', { name: 'lux-ci' }))
    await replyOf(await lux.put(membersPath('lux', 'mio'), { role: 'member' }))
    for (const name of ['lux', 'lux-ci']) {
      expect((await mio.get(`/v1/accounts/keys?user=${name}`)).status).toBe(403)
      expect((await mio.post('/v1/accounts/keys', { name: 'key', user: name })).status).toBe(403)
    }
  })
})

describe('a service account of two teams', () => {
  const put = (client: KeyClient, team: string, account: string) =>
    client.put(membersPath(team, account), { role: 'admin' })

  it('404 for admins of other teams who add it, as for no user, and 403 for those of only one of its teams', async () => {
    const [jon, kim] = [await newUser('jon'), await newUser('kim')]
    await replyOf(await jon.post('/v1/accounts/teams/jon/service-accounts', { name: 'jon-ci' }))
    const replies = await Promise.all(
      ['jon-ci', 'nobody'].map(async (name) => {
        const reply = await put(kim, 'kim', name)
        return [reply.status, (await reply.text()).replaceAll(name, '')]
      }),
    )
    expect(replies[0]).toEqual(replies[1])
    expect(replies[0]?.[0]).toBe(404)
    await replyOf(await put(await operator(), 'kim', 'jon-ci'))
    await newTeam('wefts', 'kim')
    expect((await put(kim, 'wefts', 'jon-ci')).status).toBe(403)
  })

  it('200 for its admins who manage all of its teams, and who bring it back after its last one removed it', async () => {
    const lea = await newUser('lea')
    await newTeam('reeds', 'lea')
    await replyOf(await lea.post('/v1/accounts/teams/lea/service-accounts', { name: 'lea-ci' }))
    await replyOf(await put(lea, 'reeds', 'lea-ci'))
    const key = await replyOf(await lea.post('/v1/accounts/keys', { name: 'k', user: 'lea-ci' }))
    await replyOf(await lea.delete(membersPath('lea', 'lea-ci')))
    expect(await defaultOf(as(String(key['key'])))).toBe('reeds')
    await replyOf(await lea.delete(membersPath('reeds', 'lea-ci')))
    await replyOf(await put(lea, 'reeds', 'lea-ci'))
    expect((await as(String(key['key'])).get(membersPath('reeds'))).status).toBe(200)
  })

  it('200 for admins of any of its teams who list and revoke its keys, 403 for those who make one', async () => {
    const [max, nat] = [await newUser('max'), await newUser('nat')]
    await replyOf(await max.post('/v1/accounts/teams/max/service-accounts', { name: 'max-ci' }))
    await replyOf(await put(await operator(), 'nat', 'max-ci'))
    const made = await replyOf(
      await (await operator()).post('/v1/accounts/keys', { name: 'k', user: 'max-ci' }),
    )
    for (const admin of [max, nat]) {
      const { data } = await replyOf<{ data: Fields[] }>(await admin.get('/v1/accounts/keys?user=max-ci'))
      expect(data.map(({ id }) => id)).toEqual([made['id']])
      expect((await admin.post('/v1/accounts/keys', { name: 'k', user: 'max-ci' })).status).toBe(403)
    }
    expect((await max.delete(`/v1/accounts/keys/${made['id']}`)).status).toBe(200)
  })
})

describe('names of users, teams and service accounts', () => {
  const addService = (client: KeyClient, team: string, name: string) =>
    client.post(`/v1/accounts/teams/${team}/service-accounts`, { name })

  it('409 for a service account with the name of a user, a team or projects, and the other way round', async () => {
    const hal = await newUser('hal')
    await newTeam('spindles', 'hal')
    const { control } = server.stores
    await control.insertInto('projects').values({ entity: 'older', name: 'p', created_at: '2026' }).execute()
    for (const name of ['hal', 'spindles', 'older'])
      expect((await addService(hal, 'spindles', name)).status).toBe(409)
    await replyOf(await addService(hal, 'hal', 'hal-ci'))
    const { post, put } = await operator()
    expect((await post('/v1/accounts/users', { name: 'hal-ci' })).status).toBe(409)
    expect((await post('/v1/accounts/teams', { name: 'hal-ci' })).status).toBe(409)
    expect((await put(membersPath('hal-ci', 'hal'), { role: 'admin' })).status).toBe(404)
    expect((await put(membersPath('older', 'hal'), { role: 'admin' })).status).toBe(200)
  })
})

describe('POST /v1/accounts/teams/{entity}/service-accounts', () => {
  it('400 in the own entity of a person for names that others may want, which are free in a team, and 409 for too many', async () => {
    const uma = await newUser('uma')
    await newTeam('umbrellas', 'uma')
    const add = (entity: string, name: string) =>
      uma.post(`/v1/accounts/teams/${entity}/service-accounts`, { name })
    for (const name of ['marketing', 'umami', 'uma-']) expect((await add('uma', name)).status).toBe(400)
    for (const [entity, name] of [
      ['uma', 'uma-ci'],
      ['umbrellas', 'weaver'],
      ['umbrellas', 'deployer'],
    ] as const)
      await replyOf(await add(entity, name))
    const { control } = server.stores
    const {
      id: _,
      name,
      ...made
    } = await control.selectFrom('users').selectAll().where('name', '=', 'uma-ci').executeTakeFirstOrThrow()
    const others = Array.from({ length: 99 }, (_, at) => ({
      ...made,
      id: `${name}${at}`,
      name: `${name}${at}`,
    }))
    await control.insertInto('users').values(others).execute()
    const refused = await add('uma', 'uma-more')
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('100 service')])
  })
})

describe('DELETE /v1/accounts/teams/{entity} and DELETE /v1/accounts/users/{user}', () => {
  it('404 for a team and for a user that do not exist', async () => {
    expect((await (await operator()).delete('/v1/accounts/teams/nothing')).status).toBe(404)
    expect((await (await operator()).delete('/v1/accounts/users/nobody?data=true')).status).toBe(404)
  })

  it('200 and a team stays that has the name of an erased service account, as older servers allowed', async () => {
    const ida = await newUser('ida')
    await newTeam('warps', 'ida')
    await replyOf(await ida.post('/v1/accounts/teams/ida/service-accounts', { name: 'ida-ci' }))
    await replyOf(await ida.post('/call/start', { start: startIn('warps/p') }))
    const { control } = server.stores
    await control.updateTable('users').set({ name: 'warps' }).where('name', '=', 'ida-ci').execute()
    const { id } = await replyOf(await (await operator()).delete('/v1/accounts/users/warps?data=true'))
    const projects = await control
      .selectFrom('erased_projects')
      .select('project_id')
      .where('erasure_id', '=', String(id))
      .execute()
    expect(projects).toEqual([])
    expect((await ida.post('/calls/query_stats', { project_id: 'warps/p' })).status).toBe(200)
  })
})

describe('PUT /v1/accounts/me', () => {
  it('200 with the entity that requests go to from now on that name none', async () => {
    const fay = await newUser('fay')
    await newTeam('mills', 'fay')
    expect(await defaultOf(fay)).toBe('mills')
    expect(await replyOf(await fay.put('/v1/accounts/me', { default_entity: 'fay' }))).toMatchObject({
      user: 'fay',
      default_entity: 'fay',
    })
    expect(await defaultOf(fay)).toBe('fay')
    const events = await replyOf<{ data: Fields[] }>(await fay.get('/v1/accounts/audit?entity=fay'))
    expect(events.data[0]).toMatchObject({ action: 'user.change', details: { default_entity: 'fay' } })
  })

  it('403 for other entities, whether they exist or not, for keys with limits, and for service accounts', async () => {
    const gus = await newUser('gus')
    await newTeam('sheds')
    for (const default_entity of ['sheds', 'nothing'])
      expect((await gus.put('/v1/accounts/me', { default_entity })).status).toBe(403)
    await replyOf(
      await gus.post('/v1/accounts/teams/gus/service-accounts', { name: 'gus-ci', role: 'admin' }),
    )
    for (const limits of [{ scope: 'read' }, { project_id: 'gus/one' }, { user: 'gus-ci' }]) {
      const made = await replyOf(await gus.post('/v1/accounts/keys', { name: 'k', ...limits }))
      const change = as(String(made['key'])).put('/v1/accounts/me', { default_entity: 'gus' })
      expect((await change).status).toBe(403)
    }
  })
})
