import type { TestServer } from '../testing.ts'

/** Requests in the name of a key. */
export interface KeyClient {
  key: string
  send(
    method: string,
    path: string,
    init?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>
  get(path: string): Promise<Response>
  post(path: string, body: unknown): Promise<Response>
  put(path: string, body: unknown): Promise<Response>
  delete(path: string): Promise<Response>
}

/** Accounts of a server under test that has keys. */
export interface TestAccounts {
  as(key: string): KeyClient
  /** The first operator, who has signed in by the link that the first start prints. */
  operator(): Promise<KeyClient>
  /** A new user with a key without limits. */
  newUser(name: string): Promise<KeyClient>
  /** The cookie of a browser that follows a sign-in link. */
  cookieOf(link: string): Promise<string>
}

export function createTestAccounts(server: Pick<TestServer, 'request' | 'accounts'>): TestAccounts {
  let first: Promise<KeyClient> | undefined

  function as(key: string): KeyClient {
    const send: KeyClient['send'] = (method, path, { body, headers } = {}) =>
      server.request(path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...typeOf(body), ...headers },
        ...(body !== undefined && { body: bodyText(body) }),
      })
    return {
      key,
      send,
      get: (path) => send('GET', path),
      post: (path, body) => send('POST', path, { body }),
      put: (path, body) => send('PUT', path, { body }),
      delete: (path) => send('DELETE', path),
    }
  }

  async function cookieOf(link: string): Promise<string> {
    const response = await server.request('/v1/accounts/session', {
      method: 'POST',
      headers: { authorization: '', 'content-type': 'application/json' },
      body: JSON.stringify({ token: link.split('#')[1] }),
    })
    return response.headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  async function keyOf(link: string, name: string): Promise<KeyClient> {
    const response = await server.request('/v1/accounts/keys', {
      method: 'POST',
      headers: { authorization: '', cookie: await cookieOf(link), 'x-heddle-page': '1' },
      body: JSON.stringify({ name }),
    })
    const { key } = (await response.json()) as { key: string }
    return as(key)
  }

  function operator(): Promise<KeyClient> {
    first ??= server.accounts.sessions.firstSignIn().then((link) => keyOf(link ?? '', 'first'))
    return first
  }

  async function newUser(name: string): Promise<KeyClient> {
    const made = await (await operator()).post('/v1/accounts/users', { name })
    const { sign_in_url } = (await made.json()) as { sign_in_url: string }
    return keyOf(sign_in_url, 'laptop')
  }

  return { as, cookieOf, operator, newUser }
}

/** A form says its own boundary. */
function typeOf(body: unknown): Record<string, string> {
  return body instanceof FormData ? {} : { 'content-type': 'application/json' }
}

function bodyText(body: unknown): string | Uint8Array<ArrayBuffer> | FormData {
  return typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array
    ? (body as string | Uint8Array<ArrayBuffer> | FormData)
    : JSON.stringify(body)
}
