import { afterEach, describe, expect, it, vi } from 'vitest'
import { ALL_RIGHTS } from '../../access.ts'
import { createSecretKey } from '../../stores/secret-key.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createAudit } from '../audit/service.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'
import { createSessions } from './service.ts'

const server = useTestServer({ auth: 'keys' })
const { as, newUser, operator } = createTestAccounts(server)

async function newKey(client: Pick<KeyClient, 'post'>, fields: Fields = {}): Promise<Fields> {
  return replyOf(await client.post('/v1/accounts/keys', { name: 'k', ...fields }))
}

function signIn(body: Fields): Promise<Response> {
  return server.request('/v1/accounts/session', {
    method: 'POST',
    headers: { authorization: '' },
    body: JSON.stringify(body),
  })
}

const sessionBy = (key: unknown) => sessionOf({ key })

/** What a browser sends that has signed in with a key, or by a link. */
async function sessionOf(body: Fields) {
  const response = await signIn(body)
  const { expires_at } = (await response.json()) as { expires_at: string }
  const cookie = response.headers.get('set-cookie') ?? ''
  const headers = { authorization: '', cookie: cookie.split(';')[0] ?? '', 'x-heddle-page': '1' }
  const send = (method: string, path: string, body?: unknown) =>
    server.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  return {
    expires_at,
    cookie,
    headers,
    send,
    post: (path: string, body: unknown) => send('POST', path, body),
  }
}

const DAY_SECONDS = 86_400

afterEach(() => void vi.restoreAllMocks())

describe('POST /v1/accounts/session with a key', () => {
  it('401 in the session from the moment when the key is revoked or gone', async () => {
    const ada = await newUser('ada')
    for (const end of ['revoked', 'gone']) {
      const { id, key } = await newKey(ada)
      const session = await sessionBy(key)
      expect((await session.send('GET', '/v1/accounts/me')).status).toBe(200)
      if (end === 'revoked') await replyOf(await ada.delete(`/v1/accounts/keys/${id}`))
      else await server.stores.control.deleteFrom('api_keys').where('id', '=', String(id)).execute()
      expect((await session.send('GET', '/v1/accounts/me')).status).toBe(401)
    }
  })

  it('200 with a session that ends with the key, as do keys that are made in it', async () => {
    const bob = await newUser('bob')
    const short = await newKey(bob, { expires_in_days: 1 })
    const session = await sessionBy(short['key'])
    expect(session.expires_at).toBe(short['expires_at'])
    const seconds = Number(/Max-Age=(\d+)/.exec(session.cookie)?.[1])
    expect(seconds).toBeGreaterThan(DAY_SECONDS - 600)
    expect(seconds).toBeLessThanOrEqual(DAY_SECONDS)
    for (const fields of [{}, { expires_in_days: 30 }])
      expect((await newKey(session, fields))['expires_at']).toBe(short['expires_at'])
    const long = await newKey(bob, { expires_in_days: 30 })
    expect((await sessionBy(long['key'])).expires_at < String(long['expires_at'])).toBe(true)
  })

  it('401 in the session, and for a key, past their end by the clock, also where the machine slept until then', async () => {
    const eve = await newUser('eve')
    const [used, unused] = [
      await newKey(eve, { expires_in_days: 1 }),
      await newKey(eve, { expires_in_days: 1 }),
    ]
    const session = await sessionBy(used['key'])
    const me = '/v1/accounts/me'
    expect((await session.send('GET', me)).status).toBe(200)
    vi.spyOn(Date, 'now').mockReturnValue(Date.parse(session.expires_at) + 60_000)
    expect((await session.send('GET', me)).status).toBe(401)
    expect((await as(String(unused['key'])).get(me)).status).toBe(401)
  })

  it('401 by a link of a key that is revoked, 200 with a session that ends with it before', async () => {
    const admin = await operator()
    const { user } = await replyOf(await admin.get('/v1/accounts/me'))
    const short = await newKey(admin, { expires_in_days: 1 })
    const tokenFor = async (name: unknown) => {
      const path = `/v1/accounts/users/${name}/sign-in-link`
      const { sign_in_url } = await replyOf(await as(String(short['key'])).post(path, {}))
      return { token: String(sign_in_url).split('#')[1] ?? '' }
    }
    await newUser('guest')
    const own = await sessionOf(await tokenFor(user))
    expect(own.expires_at).toBe(short['expires_at'])
    const guest = await sessionOf(await tokenFor('guest'))
    expect(guest.expires_at > String(short['expires_at'])).toBe(true)
    const unused = [await tokenFor(user), await tokenFor('guest')]
    await replyOf(await admin.delete(`/v1/accounts/keys/${short['id']}`))
    expect((await own.send('GET', '/v1/accounts/me')).status).toBe(401)
    expect((await guest.send('GET', '/v1/accounts/me')).status).toBe(200)
    for (const token of unused) expect((await signIn(token)).status).toBe(401)
  })

  it('429 in the session beyond the limits of the key', async () => {
    const cid = await newUser('cid')
    const { id, key } = await newKey(cid)
    await replyOf(await cid.put(`/v1/accounts/keys/${id}/limits`, { requests_per_minute: 1 }))
    const session = await sessionBy(key)
    expect((await session.send('GET', '/v1/accounts/me')).status).toBe(200)
    expect((await session.send('GET', '/v1/accounts/me')).status).toBe(429)
  })
})

describe('GET /v1/accounts/me from a page', () => {
  it('401 for the session of another user than the page was loaded for', async () => {
    const { headers } = await sessionBy((await newUser('tabs')).key)
    const readFor = (user: string) =>
      server.request('/v1/accounts/me', { headers: { ...headers, 'x-heddle-user': user } })
    expect(await replyOf(await readFor('tabs'))).toMatchObject({ user: 'tabs' })
    const refused = await readFor('another')
    expect(refused.status).toBe(401)
    expect(await refused.text()).toContain('This page is of another, and tabs has signed in since')
  })
})

describe('GET /v1/accounts/teams/{entity}/members in a session', () => {
  it('403 that speaks of the person, and not of a key', async () => {
    const { key } = await newUser('liv')
    const { send } = await sessionBy(key)
    const refused = await send('GET', '/v1/accounts/teams/others/members')
    expect(refused.status).toBe(403)
    expect(await refused.text()).toContain('You may not read others')
    expect(await (await as(key).get('/v1/accounts/teams/others/members')).text()).toContain(
      'This key may not',
    )
  })
})

describe('DELETE /v1/accounts/session', () => {
  it('503 where the session cannot be ended, which the browser forgets all the same', async () => {
    const flo = await newUser('flo')
    const session = await sessionBy(flo.key)
    vi.spyOn(server.stores.control, 'deleteFrom').mockImplementationOnce(() => {
      throw new Error('the database is away')
    })
    const failed = await session.send('DELETE', '/v1/accounts/session')
    expect(failed.status).toBe(503)
    expect(failed.headers.get('set-cookie')).toMatch(/^heddle_session=; .*Max-Age=0/)
    expect((await session.send('GET', '/v1/accounts/me')).status).toBe(200)
    await replyOf(await session.send('DELETE', '/v1/accounts/session'))
    expect((await session.send('GET', '/v1/accounts/me')).status).toBe(401)
  })
})

describe('POST /v1/accounts/keys', () => {
  it('200 with a key that ends no later than the one that made it', async () => {
    const dan = await newUser('dan')
    const short = await newKey(dan, { expires_in_days: 1 })
    const client = as(String(short['key']))
    for (const fields of [{}, { expires_in_days: 2 }])
      expect((await newKey(client, fields))['expires_at']).toBe(short['expires_at'])
    const shorter = await newKey(client, { expires_in_days: 0.5 })
    expect(String(shorter['expires_at']) < String(short['expires_at'])).toBe(true)
    expect((await newKey(dan))['expires_at']).toBeNull()
  })
})

describe('the link that a start prints', () => {
  /** The sessions of the server after its secret key has changed. */
  function sessionsUnder(material: Uint8Array) {
    const { control } = server.stores
    return createSessions({
      control,
      identity: server.accounts.identity,
      audit: createAudit({ control }),
      peers: { arePossible: false },
      secretKey: createSecretKey(material),
      keys: { callerOf: () => Promise.reject(new Error('no key is valid')) },
    })
  }

  const context = {
    caller: { user: '', defaultEntity: '', keyId: '', rights: ALL_RIGHTS },
    signal: new AbortController().signal,
    requestId: '1',
    header: () => undefined,
  }

  it('comes again at each start under another secret key, until an operator has signed in', async () => {
    await operator()
    expect(await server.accounts.sessions.firstSignIn()).toBeUndefined()
    expect(await server.accounts.sessions.areInUse()).toBe(true)
    const sessions = sessionsUnder(Buffer.alloc(32, 1))
    expect(await sessions.firstSignIn()).toMatch('/sign-in#')
    await newUser('eva')
    await sessions.cookieFor(await server.accounts.identity.userNamed('eva'), context)
    const link = (await sessions.firstSignIn()) ?? ''
    await sessions.signIn({ token: link.split('#')[1] }, context)
    expect(await sessions.firstSignIn()).toBeUndefined()
  })
})
