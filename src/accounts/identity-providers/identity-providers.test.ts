import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { startTestProvider } from '../oidc/test-provider.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'

const idp = await startTestProvider()
afterAll(() => idp[Symbol.asyncDispose]())

const server = useTestServer({ auth: 'keys', identityHosts: [new URL(idp.issuer).host] })
const accounts = createTestAccounts(server)

/** An issuer that the server may not ask, on this machine; it counts what asks it. */
const hidden = { requests: 0, issuer: '' }
const trap = createServer((_, response) => {
  hidden.requests += 1
  response.end('{}')
})
await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
hidden.issuer = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
afterAll(() => new Promise((resolve) => trap.close(resolve)))

const pathOf = (entity: string) => `/v1/accounts/teams/${entity}/identity-providers`

/** A team of one user with a service account, and a provider that fits its tokens. */
async function newTeam(name: string) {
  const admin = await accounts.newUser(name)
  const service_account = `${name}-ci`
  await replyOf(await admin.post(`/v1/accounts/teams/${name}/service-accounts`, { name: service_account }))
  const provider = {
    issuer: idp.issuer,
    audience: `heddle-${name}`,
    claims: { sub: `repo:${name}/loom:*` },
    service_account,
    jwks: null,
  }
  return { admin, provider, claims: claimsFor(name) }
}

function claimsFor(name: string): JWTPayload {
  const now = Math.floor(Date.now() / 1000)
  return { iss: idp.issuer, aud: `heddle-${name}`, sub: `repo:${name}/loom:main`, iat: now, exp: now + 600 }
}

function exchange(assertion: string, grant_type = 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
  return server.request('/oidc/token', {
    method: 'POST',
    headers: { authorization: '', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type, assertion }).toString(),
  })
}

/** A caller with an access token. */
async function signedIn(claims: JWTPayload): Promise<KeyClient> {
  const reply = await replyOf(await exchange(await idp.sign(claims)))
  expect(reply).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 3600 })
  return accounts.as(String(reply['access_token']))
}

const statusOf = async (sent: Promise<Response>) => (await sent).status

describe('GET and PUT /v1/accounts/teams/{entity}/identity-providers', () => {
  it('200 with what was set, which the audit record has too', async () => {
    const { admin, provider } = await newTeam('ann')
    expect(await replyOf(await admin.get(pathOf('ann')))).toEqual({ data: [] })
    const data = [provider, { ...provider, issuer: 'https://tokens.example', claims: { sub: 'a', ref: 'b' } }]
    expect(await replyOf(await admin.put(pathOf('ann'), { data }))).toEqual({ data })
    expect(await replyOf(await admin.get(pathOf('ann')))).toEqual({ data })
    const events = await admin.get('/v1/accounts/audit?entity=ann&action=identity_providers.set')
    expect(await replyOf(events)).toMatchObject({
      data: [{ actor: 'ann', details: { data: [{ service_account: 'ann-ci', own_keys: false }, {}] } }],
    })
  })

  it('200 for a list with one twice, as often as it is set', async () => {
    const { admin, provider } = await newTeam('abe')
    const data = [provider, provider]
    const idsNow = async () => {
      const { control } = server.stores
      const rows = await control
        .selectFrom('identity_providers')
        .select('id')
        .where('entity', '=', 'abe')
        .execute()
      return rows.map(({ id }) => id).sort()
    }
    expect(await replyOf(await admin.put(pathOf('abe'), { data }))).toEqual({ data })
    const ids = await idsNow()
    expect(await replyOf(await admin.put(pathOf('abe'), { data }))).toEqual({ data })
    expect(await idsNow()).toEqual(ids)
  })

  it('403 for members who are no admins, and for service accounts that belong to other teams too', async () => {
    const { admin, provider } = await newTeam('bea')
    const other = await accounts.newUser('bob')
    await replyOf(await admin.put('/v1/accounts/teams/bea/members/bob', { role: 'member' }))
    expect(await statusOf(other.get(pathOf('bea')))).toBe(403)
    expect(await statusOf(other.put(pathOf('bea'), { data: [] }))).toBe(403)
    const operator = await accounts.operator()
    await replyOf(await operator.put('/v1/accounts/teams/bob/members/bea-ci', { role: 'member' }))
    expect(await statusOf(admin.put(pathOf('bea'), { data: [provider] }))).toBe(403)
  })

  it('400 for a person, and an issuer without encryption or with no public address', async () => {
    const { admin, provider } = await newTeam('cat')
    for (const change of [
      { service_account: 'cat' },
      { issuer: hidden.issuer },
      { issuer: 'file:///etc/passwd' },
      { issuer: 'text' },
      { issuer: 'https://127.0.0.1' },
      { issuer: 'https://169.254.169.254' },
      { issuer: 'https://[::1]:8443/issuer' },
      { issuer: 'https://localhost' },
      { issuer: 'https://user:secret@id.example' },
    ])
      expect(await statusOf(admin.put(pathOf('cat'), { data: [{ ...provider, ...change }] }))).toBe(400)
  })

  it('404 for an account of another team, as for none', async () => {
    const { admin, provider } = await newTeam('cyd')
    await newTeam('con')
    for (const service_account of ['con-ci', 'con', 'nobody'])
      expect(await statusOf(admin.put(pathOf('cyd'), { data: [{ ...provider, service_account }] }))).toBe(404)
  })

  it('409 for an audience of another team', async () => {
    const first = await newTeam('dan')
    const second = await newTeam('dot')
    await replyOf(await first.admin.put(pathOf('dan'), { data: [first.provider] }))
    const data = [{ ...second.provider, audience: 'heddle-dan', claims: { sub: 'repo:dan/loom:*' } }]
    expect(await statusOf(second.admin.put(pathOf('dot'), { data }))).toBe(409)
  })

  it('422 for conditions that any token of the issuer meets, and for keys that are secrets', async () => {
    const { admin, provider } = await newTeam('eva')
    for (const change of [
      { claims: {} },
      { claims: { sub: '*' } },
      { jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } },
    ])
      expect(await statusOf(admin.put(pathOf('eva'), { data: [{ ...provider, ...change }] }))).toBe(422)
  })
})

describe('POST /oidc/token', () => {
  it('503 while the keys of an issuer are fetched for the first time and it is down, then 200', async () => {
    const { admin, provider, claims } = await newTeam('kai')
    await replyOf(await admin.put(pathOf('kai'), { data: [provider] }))
    idp.isDown = true
    expect(await statusOf(exchange(await idp.sign(claims)))).toBe(503)
    idp.isDown = false
    expect(await statusOf(exchange(await idp.sign(claims)))).toBe(200)
  })

  it('200 with a token that is accepted as Bearer and Basic, for what its service account may do', async () => {
    const { admin, provider, claims } = await newTeam('fay')
    await replyOf(await admin.put(pathOf('fay'), { data: [provider] }))
    const client = await signedIn(claims)
    expect(await replyOf(await client.get('/v1/accounts/me'))).toMatchObject({
      user: 'fay-ci',
      default_entity: 'fay',
      is_operator: false,
      entities: [{ name: 'fay', role: 'member' }],
    })
    const basic = `Basic ${Buffer.from(`api:${client.key}`).toString('base64')}`
    const read = client.send('POST', '/calls/query_stats', {
      body: { project_id: 'fay/p' },
      headers: { authorization: basic },
    })
    expect(await statusOf(read)).toBe(200)
    expect(await statusOf(client.post('/calls/query_stats', { project_id: 'eva/p' }))).toBe(403)
    expect(await statusOf(client.put(pathOf('fay'), { data: [] }))).toBe(403)
    expect(await statusOf(client.post('/v1/accounts/keys', { name: 'forever' }))).toBe(403)
    const events = await admin.get('/v1/accounts/audit?entity=fay&action=access_token.create')
    expect(await replyOf(events)).toMatchObject({
      data: [{ actor: 'fay-ci', details: { issuer: idp.issuer, subject: 'repo:fay/loom:main' } }],
    })
  })

  it('200 by keys that were given, of an issuer that is never asked', async () => {
    const { admin, provider, claims } = await newTeam('gus')
    const { publicKey, privateKey } = await generateKeyPair('ES256')
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'test' }] }
    const data = [{ ...provider, issuer: 'https://nowhere.invalid', jwks }]
    await replyOf(await admin.put(pathOf('gus'), { data }))
    const own = { ...claims, iss: 'https://nowhere.invalid' }
    expect(await statusOf(exchange(await idp.sign(own, privateKey, 'ES256')))).toBe(200)
    expect(await statusOf(exchange(await idp.sign(own)))).toBe(400)
  })

  it('401 for an access token whose identity provider is gone or changed, whose account has left or is disabled, or that was altered', async () => {
    const { admin, provider, claims } = await newTeam('hal')
    const put = async (data: object[]) => replyOf(await admin.put(pathOf('hal'), { data }))
    const me = (client: KeyClient) => statusOf(client.get('/v1/accounts/me'))
    await put([provider])
    const client = await signedIn(claims)
    await put([{ ...provider, audience: 'other' }, provider])
    expect(await me(client)).toBe(200)
    expect(await me(accounts.as(`${client.key.slice(0, -1)}~`))).toBe(401)
    expect(await me(accounts.as('heddle_access.e30.'))).toBe(401)
    await put([{ ...provider, claims: { sub: 'repo:hal/loom:ref' } }])
    expect(await me(client)).toBe(401)
    await put([provider])
    expect(await me(client)).toBe(401)
    const next = await signedIn(claims)
    await replyOf(await admin.delete('/v1/accounts/teams/hal/members/hal-ci'))
    expect(await me(next)).toBe(401)
    expect(await statusOf(exchange(await idp.sign(claims)))).toBe(400)
    await replyOf(await admin.put('/v1/accounts/teams/hal/members/hal-ci', { role: 'viewer' }))
    expect(await me(next)).toBe(200)
    await replyOf(await (await accounts.operator()).put('/v1/accounts/users/hal-ci', { disabled: true }))
    expect(await me(next)).toBe(401)
    expect(await statusOf(exchange(await idp.sign(claims)))).toBe(400)
  })

  let teams = 0
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = (claims: object) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`
  it.each<[string, (claims: JWTPayload) => string | Promise<string>]>([
    ['that has expired', (claims) => idp.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 3600 })],
    ['that never expires', ({ exp: _, ...claims }) => idp.sign(claims)],
    ['that is not valid yet', (claims) => idp.sign({ ...claims, nbf: Math.floor(Date.now() / 1000) + 3600 })],
    ['for another audience', (claims) => idp.sign({ ...claims, aud: 'other' })],
    ['of another issuer', (claims) => idp.sign({ ...claims, iss: hidden.issuer })],
    ['of another subject', (claims) => idp.sign({ ...claims, sub: 'repo:evil/loom:main' })],
    [
      'with another signature',
      async (claims) => idp.sign(claims, (await generateKeyPair('RS256')).privateKey),
    ],
    ['without a signature', (claims) => unsigned(claims)],
    ['signed by a public key', (claims) => idp.sign(claims, Buffer.alloc(32, 'public'), 'HS256')],
    ['that is no JWT', () => 'text'],
    ['with an issuer that is no text', (claims) => unsigned({ ...claims, iss: { a: 1 } })],
    ['with an issuer that no database takes', (claims) => unsigned({ ...claims, iss: 'a\0' })],
    ['with an audience that is no text', (claims) => unsigned({ ...claims, aud: [null] })],
    ['without an audience', (claims) => unsigned({ ...claims, aud: [] })],
    [
      'with more audiences than anybody has',
      ({ aud, ...claims }) => unsigned({ ...claims, aud: Array.from({ length: 51 }, () => aud) }),
    ],
  ])('400 for a token %s', async (_, make) => {
    teams += 1
    const team = `team-${teams}`
    const { admin, provider, claims } = await newTeam(team)
    await replyOf(await admin.put(pathOf(team), { data: [provider] }))
    const response = await exchange(await make(claims))
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: 'invalid_grant', detail: expect.any(String) })
  })

  it('400 for a token with the audiences of two teams', async () => {
    for (const name of ['ida', 'ivo']) {
      const { admin, provider } = await newTeam(name)
      await replyOf(await admin.put(pathOf(name), { data: [{ ...provider, claims: { sub: 'both' } }] }))
    }
    const claims = { ...claimsFor('ida'), aud: ['heddle-ida', 'heddle-ivo'], sub: 'both' }
    expect(await (await exchange(await idp.sign(claims))).json()).toMatchObject({
      detail: 'The audiences of the identity token are those of several teams',
    })
  })

  it('400 for another form', async () => {
    expect(await (await exchange('x', 'password')).json()).toMatchObject({ error: 'unsupported_grant_type' })
    const empty = await server.request('/oidc/token', { method: 'POST', body: '{}' })
    expect((await empty.json()) as Fields).toMatchObject({ error: 'invalid_request' })
  })

  it('400 for an issuer that may not be asked any more, and is not', async () => {
    const { admin, provider, claims } = await newTeam('jim')
    await replyOf(await admin.put(pathOf('jim'), { data: [provider] }))
    for (const issuer of ['https://127.0.0.1', 'https://169.254.169.254', 'https://localhost']) {
      // As one that HEDDLE_IDENTITY_HOSTS named when it was set.
      await server.stores.control
        .updateTable('identity_providers')
        .set({ issuer })
        .where('entity', '=', 'jim')
        .execute()
      const response = await exchange(await idp.sign({ ...claims, iss: issuer }))
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('HEDDLE_IDENTITY_HOSTS')
    }
    expect(hidden.requests).toBe(0)
  })
})
