import { generateKeyPair } from 'jose'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import type { GroupGrant, SingleSignOn } from '../../settings/single-sign-on.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createTestAccounts } from '../test-accounts.ts'
import { startTestProvider } from './test-provider.ts'

const idp = await startTestProvider()
afterAll(() => idp[Symbol.asyncDispose]())

const groups: Record<string, GroupGrant[]> = {
  weavers: [{ entity: 'looms', role: 'member' }],
  leads: [
    { entity: 'looms', role: 'admin' },
    { entity: 'mills', role: 'viewer' },
  ],
  owners: [{ operator: true }],
  dyers: [{ entity: 'vats', role: 'member' }],
  spinners: [{ entity: 'spinner', role: 'admin' }],
}

const settings: SingleSignOn = {
  issuer: idp.issuer,
  clientId: idp.clientId,
  clientSecret: idp.clientSecret,
  scopes: 'openid profile email groups',
  groupsClaim: 'groups',
  groups: new Map(Object.entries(groups)),
  signUp: true,
}

const server = useTestServer({ auth: 'keys', singleSignOn: settings })
const { operator } = createTestAccounts(server)

beforeEach(() => {
  Object.assign(settings, { signUp: true })
  Object.assign(idp, { person: undefined, tamper: undefined, isDown: false })
})

/** A browser: cookies by the origin that set them. */
function createBrowser() {
  const jars = { server: new Map<string, string>(), provider: new Map<string, string>() }

  /** One request, without following a redirect. */
  async function visit(url: URL): Promise<Response> {
    const jar = url.origin === idp.issuer ? jars.provider : jars.server
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response =
      url.origin === 'http://localhost'
        ? await server.request(url.pathname + url.search, { headers: { authorization: '', cookie } })
        : await fetch(url, { headers: { cookie }, redirect: 'manual' })
    for (const set of response.headers.getSetCookie()) {
      const [name = '', value = ''] = set.split(';')[0]?.split('=', 2) ?? []
      jar.set(name, value)
    }
    return response
  }

  /** Follows redirects until the address is one of `stops`, or there is none to follow. */
  async function follow(path: string, stop: RegExp): Promise<URL> {
    let url = new URL(path, 'http://localhost')
    while (!stop.test(url.href)) {
      const location = (await visit(url)).headers.get('location')
      if (location === null) return url
      url = new URL(location, url)
    }
    return url
  }

  const me = () =>
    server.request('/v1/accounts/me', {
      headers: {
        authorization: '',
        cookie: `heddle_session=${jars.server.get('heddle_session') ?? ''}`,
        'x-heddle-page': '1',
      },
    })
  return { visit, follow, me }
}

const START = '/v1/accounts/oidc/start'
const ANSWER = /\/v1\/accounts\/oidc\/callback/
const END = /^http:\/\/localhost\/(?!v1\/)/

/** The path that a sign-in in a new browser ends at, and who has signed in. */
async function signIn(person: typeof idp.person): Promise<{ path: string; me: Fields }> {
  idp.person = person
  const browser = createBrowser()
  const end = await browser.follow(`${START}?return_to=/traces`, END)
  const me = await browser.me()
  return { path: end.pathname + end.search, me: me.status === 200 ? await replyOf(me) : {} }
}

async function events(action: string): Promise<Fields[]> {
  const { data } = await replyOf<{ data: Fields[] }>(
    await (await operator()).get(`/v1/accounts/audit?action=${action}&limit=100`),
  )
  return data
}

const users = () => server.stores.control.selectFrom('users').select('name').execute()

describe('GET /v1/accounts/oidc/start', () => {
  it('302 to the sign-in page while the provider cannot be reached for the first time, and then to it', async () => {
    idp.isDown = true
    const start = async () => (await createBrowser().visit(new URL(`http://localhost${START}`))).headers
    expect((await start()).get('location')).toBe('/sign-in?error=unavailable')
    idp.isDown = false
    expect((await start()).get('location')).toContain(idp.issuer)
  })

  it('302 to the provider with PKCE, state and nonce, and a cookie that scripts cannot read', async () => {
    const response = await createBrowser().visit(new URL(`http://localhost${START}`))
    expect(response.status).toBe(302)
    const { searchParams } = new URL(response.headers.get('location') ?? '')
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: 'http://localhost/v1/accounts/oidc/callback',
      nonce: expect.stringMatching(/.{40}/),
      state: expect.stringMatching(/.{40}/),
    })
    expect(response.headers.get('set-cookie')).toMatch(
      /^heddle_oidc=sealed1:[\w-]+; Path=\/v1\/accounts\/oidc; HttpOnly; SameSite=Lax; Max-Age=900$/,
    )
  })

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/..//evil.example',
    '/\t/evil.example',
    'traces',
  ])('400 for %j, which is no path of this server', async (path) => {
    const response = await server.request(`${START}?return_to=${encodeURIComponent(path)}`)
    expect(response.status).toBe(400)
  })
})

describe('GET /v1/accounts/oidc/callback', () => {
  it('302 to where the person wanted to go, signed in as a new user with what the groups grant', async () => {
    const ada = { sub: 'ada', preferred_username: 'Ada Löw', email: 'Ada@x.org', email_verified: true }
    const { path, me } = await signIn({ ...ada, groups: ['weavers', 'others'] })
    expect(path).toBe('/traces')
    expect(me).toMatchObject({
      user: 'ada-low',
      default_entity: 'looms',
      single_sign_on: true,
      is_operator: false,
    })
    expect(me['entities']).toEqual([
      { name: 'ada-low', role: 'admin' },
      { name: 'looms', role: 'member' },
    ])
    expect((await events('user.create'))[0]).toMatchObject({
      actor: 'ada-low',
      details: { identity: `${idp.issuer} ada`, email: 'ada@x.org' },
    })
    expect((await signIn({ ...ada, preferred_username: 'renamed', groups: ['weavers'] })).me).toEqual(me)
  })

  it('brings memberships and operators in line with the groups, and leaves what was given by hand', async () => {
    const bo = { sub: 'bo', preferred_username: 'bo' }
    const first = await signIn({ ...bo, groups: ['leads', 'weavers', 'owners'] })
    expect(first.me).toMatchObject({ is_operator: true })
    expect(first.me['entities']).toEqual([
      { name: 'bo', role: 'admin' },
      { name: 'looms', role: 'admin' },
      { name: 'mills', role: 'viewer' },
    ])
    const client = await operator()
    await replyOf(await client.put('/v1/accounts/teams/mills/members/admin', { role: 'admin' }))
    await replyOf(await client.put('/v1/accounts/teams/mills/members/bo', { role: 'member' }))
    await replyOf(await client.post('/v1/accounts/teams', { name: 'sheds', admin: 'bo' }))
    const { me } = await signIn({ ...bo, groups: [] })
    expect(me).toMatchObject({ is_operator: false, default_entity: 'bo' })
    expect(me['entities']).toEqual([
      { name: 'bo', role: 'admin' },
      { name: 'mills', role: 'member' },
      { name: 'sheds', role: 'admin' },
    ])
    expect(await events('member.remove')).toMatchObject([
      { actor: 'bo', entity: 'looms', subject: 'bo', details: { by: 'groups' } },
    ])
  })

  it('gives a new user another name than that of a team in the groups setting, which may not exist yet', async () => {
    const { me } = await signIn({ sub: 'vats', preferred_username: 'Vats', groups: [] })
    expect(me).toMatchObject({ user: 'vats-2', entities: [{ name: 'vats-2', role: 'admin' }] })
    const dyer = await signIn({ sub: 'dyer', preferred_username: 'dyer', groups: ['dyers'] })
    expect(dyer.me['entities']).toContainEqual({ name: 'vats', role: 'member' })
  })

  it('keeps the name of such a team from service accounts', async () => {
    const { post } = await operator()
    await replyOf(await post('/v1/accounts/teams', { name: 'baths' }))
    const refused = await post('/v1/accounts/teams/baths/service-accounts', { name: 'mills' })
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('kept for a team')])
  })

  it('ignores a grant for a personal entity, and removes a membership that such a grant gave', async () => {
    await replyOf(await (await operator()).post('/v1/accounts/users', { name: 'spinner' }))
    const fay = { sub: 'fay', preferred_username: 'fay', groups: ['spinners'] }
    const own = [{ name: 'fay', role: 'admin' }]
    expect((await signIn(fay)).me['entities']).toEqual(own)
    const { control } = server.stores
    const { id: user_id } = await server.accounts.identity.userNamed('fay')
    const given = { entity: 'spinner', user_id, role: 'admin' as const, created_at: '', from_groups: 1 }
    await control.insertInto('memberships').values(given).execute()
    expect((await signIn(fay)).me['entities']).toEqual(own)
  })

  it('leaves an operator who was made one by hand', async () => {
    await signIn({ sub: 'cy', preferred_username: 'cy' })
    await replyOf(await (await operator()).put('/v1/accounts/users/cy', { is_operator: true }))
    expect((await signIn({ sub: 'cy', groups: ['weavers'] })).me).toMatchObject({ is_operator: true })
  })

  it('finds a user by a verified mail address alone, and only for the first person who has it', async () => {
    const made = { name: 'dora', email: 'dora@x.org' }
    await replyOf(await (await operator()).post('/v1/accounts/users', made))
    const unverified = await signIn({ sub: 'd1', preferred_username: 'dora', email: 'dora@x.org' })
    expect(unverified.me).toMatchObject({ user: 'dora-2' })
    const verified = { email: 'dora@x.org', email_verified: true }
    expect((await signIn({ sub: 'd2', ...verified })).me).toMatchObject({ user: 'dora' })
    expect((await events('user.link'))[0]).toMatchObject({
      subject: 'dora',
      details: { identity: `${idp.issuer} d2` },
    })
    expect((await signIn({ sub: 'd3', ...verified })).path).toBe('/sign-in?error=mail_taken')
  })

  it('makes no user where sign-up is off, and says so', async () => {
    Object.assign(settings, { signUp: false })
    const before = await users()
    const { path, me } = await signIn({
      sub: 'eli',
      email: 'eli@x.org',
      email_verified: true,
      groups: ['weavers'],
    })
    expect(path).toBe('/sign-in?error=no_account')
    expect(me).toEqual({})
    expect(await users()).toEqual(before)
    expect((await events('session.refuse'))[0]).toMatchObject({
      actor: 'eli@x.org',
      details: { reason: 'no_account', identity: `${idp.issuer} eli` },
    })
  })

  it('refuses a disabled user, whose groups change nothing', async () => {
    await signIn({ sub: 'fin', preferred_username: 'fin' })
    await replyOf(await (await operator()).put('/v1/accounts/users/fin', { disabled: true }))
    expect((await signIn({ sub: 'fin', groups: ['weavers'] })).path).toBe('/sign-in?error=disabled')
    const members = await (await operator()).get('/v1/accounts/audit?entity=looms&actor=fin')
    expect(await replyOf(members)).toMatchObject({ data: [] })
  })

  it('says that the person has cancelled', async () => {
    expect((await signIn(undefined)).path).toBe('/sign-in?error=denied')
  })

  it('refuses the answer in another browser, a second time, and with another state', async () => {
    idp.person = { sub: 'gil', preferred_username: 'gil' }
    const [browser, other] = [createBrowser(), createBrowser()]
    await other.follow(START, ANSWER)
    const answer = await browser.follow(START, ANSWER)
    const endOf = async (from: typeof browser, url: URL) => (await from.visit(url)).headers.get('location')
    const expired = '/sign-in?error=expired'
    expect(await endOf(other, answer)).toBe(expired)
    expect(await endOf(createBrowser(), answer)).toBe(expired)
    const changed = new URL(answer)
    changed.searchParams.set('state', 'x')
    expect(await endOf(browser, changed)).toBe(expired)
    expect(await endOf(browser, answer)).toBe('/')
    expect(await endOf(browser, answer)).toBe(expired)
  })

  it('refuses the answer of another provider', async () => {
    idp.person = { sub: 'hal', preferred_username: 'hal' }
    const browser = createBrowser()
    const answer = await browser.follow(START, ANSWER)
    answer.searchParams.set('iss', 'https://evil.example')
    expect((await browser.visit(answer)).headers.get('location')).toBe('/sign-in?error=invalid')
  })

  const seconds = () => Math.floor(Date.now() / 1000)
  it.each<[string, string, NonNullable<typeof idp.tamper>]>([
    ['another nonce', 'invalid', (claims) => idp.sign({ ...claims, nonce: 'x' })],
    ['another issuer', 'invalid', (claims) => idp.sign({ ...claims, iss: 'https://evil.example' })],
    ['another audience', 'invalid', (claims) => idp.sign({ ...claims, aud: 'other' })],
    ['an end in the past', 'clock', (claims) => idp.sign({ ...claims, exp: seconds() - 3600 })],
    [
      'another key',
      'invalid',
      async (claims) => idp.sign(claims, (await generateKeyPair('RS256')).privateKey),
    ],
    ['no signature', 'invalid', async (claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`],
  ])('refuses an ID token with %s, and makes nothing', async (_, code, tamper) => {
    const before = await users()
    idp.tamper = tamper
    expect((await signIn({ sub: 'ivo', preferred_username: 'ivo' })).path).toBe(`/sign-in?error=${code}`)
    expect(await users()).toEqual(before)
  })

  it('says that the provider is down, and lets the person try again', async () => {
    idp.person = { sub: 'jo', preferred_username: 'jo' }
    const browser = createBrowser()
    const answer = await browser.follow(START, ANSWER)
    idp.isDown = true
    expect((await browser.visit(answer)).headers.get('location')).toBe('/sign-in?error=unavailable')
    idp.isDown = false
    expect((await browser.follow(START, END)).pathname).toBe('/')
    expect(await replyOf(await browser.me())).toMatchObject({ user: 'jo' })
  })
})

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
