import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { type ClientMetadata, Provider } from 'oidc-provider'

/** What the provider knows of a person. */
export interface TestPerson {
  sub: string
  preferred_username?: string
  email?: string
  email_verified?: boolean
  groups?: string[]
}

/** A real provider on loopback, whose people sign in without a form. */
export interface TestProvider extends AsyncDisposable {
  issuer: string
  clientId: string
  clientSecret: string
  /** Who sits in front of the browser; undefined for somebody who cancels. */
  person: TestPerson | undefined
  /** Changes an ID token on its way. */
  tamper: ((claims: JWTPayload) => Promise<string>) | undefined
  /** Whether it answers with errors. */
  isDown: boolean
  /** A token signed by the provider's key, or another one. */
  sign(claims: JWTPayload, key?: CryptoKey | Uint8Array, alg?: string): Promise<string>
}

const CLIENT: ClientMetadata & { client_secret: string } = {
  client_id: 'heddle',
  client_secret: 'a-secret-of-the-test',
  redirect_uris: ['http://localhost/v1/accounts/oidc/callback'],
}

/** Starts a provider with one client, whose users are at `http://localhost`. */
export async function startTestProvider(): Promise<TestProvider> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const jwk: JWK = { ...(await exportJWK(privateKey)), kid: 'test', alg: 'RS256', use: 'sig' }
  const listener: { handle?: (request: IncomingMessage, response: ServerResponse) => void } = {}
  const http = createServer((request, response) => listener.handle?.(request, response))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

  const state: TestProvider = {
    issuer,
    clientId: CLIENT.client_id,
    clientSecret: CLIENT.client_secret,
    person: undefined,
    tamper: undefined,
    isDown: false,
    sign: (claims, key = privateKey, alg = 'RS256') =>
      new SignJWT(claims).setProtectedHeader({ alg, kid: 'test' }).sign(key),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
  const provider = providerOf(state, jwk)
  const answer = provider.callback()
  listener.handle = (request, response) => {
    if (state.isDown) response.writeHead(502).end()
    else if (request.url?.startsWith('/interaction/')) void interact(provider, state, request, response)
    else void answer(request, response)
  }
  return state
}

function providerOf(state: TestProvider, jwk: JWK): Provider {
  const people = new Map<string, TestPerson>()
  const provider: Provider = new Provider(state.issuer, {
    clients: [CLIENT],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a-key-of-the-test'] },
    features: { devInteractions: { enabled: false } },
    claims: {
      openid: ['sub'],
      profile: ['preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups'],
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    async findAccount(_, id) {
      if (state.person?.sub === id) people.set(id, state.person)
      const person = people.get(id)
      return person && { accountId: id, claims: async () => ({ ...person }) }
    },
    async loadExistingGrant({ oidc: { client, session } }) {
      const grant = new provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
  })
  provider.use(async (context, next) => {
    await next()
    const body = context.body as { id_token?: string } | undefined
    if (context.path !== '/token' || state.tamper === undefined || body?.id_token === undefined) return
    const [, payload = ''] = body.id_token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as JWTPayload
    context.body = { ...body, id_token: await state.tamper(claims) }
  })
  return provider
}

/** Signs the person in, or cancels. */
async function interact(
  provider: Provider,
  { person }: TestProvider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const result =
    person === undefined
      ? { error: 'access_denied', error_description: 'The person has cancelled' }
      : { login: { accountId: person.sub } }
  await provider.interactionFinished(request, response, result)
}
