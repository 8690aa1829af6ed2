import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { clientGone, dependencyFailed, StoreFailed } from '../errors.ts'
import { createLog } from '../log.ts'
import { createWebPages } from '../web/pages.ts'
import { createAuthorize } from './access.ts'
import { LOCAL_AUTHENTICATOR } from './auth.ts'
import { buildApp } from './build-app.ts'
import { type Route, route } from './route.ts'

function routeOf(
  method: Route['method'],
  path: string,
  handle: () => Record<string, never> = () => ({}),
): Route {
  const operationId = `${method} ${path}`
  const response = z.object({})
  return route({
    method,
    path,
    operationId,
    summary: 'Probe',
    family: 'trace',
    access: 'any-key',
    reply: 'json',
    response,
    handle,
  })
}

describe('ANY /path, by another name', () => {
  it('421 for a foreign host, 403 for a page of another site, for the API and the pages alike', async () => {
    const silent = createLog({ logLevel: 'silent', logFormat: 'json' })
    const app = buildApp([routeOf('GET', '/things/{name}')], {
      authenticator: LOCAL_AUTHENTICATOR,
      authorize: createAuthorize({}),
      version: '1',
      log: silent,
      observe: () => {},
      hosts: ['heddle.example'],
    })
    const status = async (path: string, headers: Record<string, string>) =>
      (await app.request(path, { headers: { authorization: 'Bearer x', ...headers } })).status
    for (const path of ['/things/a', '/openapi.json', '/docs']) {
      expect(await status(path, { host: 'evil.example' }), path).toBe(421)
      expect(await status(path, { host: '127.0.0.1:6060', origin: 'http://evil.example' }), path).toBe(403)
      expect(await status(path, { host: 'heddle.example', origin: 'https://heddle.example' }), path).toBe(200)
    }
  })
})

describe('every reply', () => {
  it('is not to be taken for another type, nor framed', async () => {
    const app = buildApp([routeOf('GET', '/things/{name}')], {
      authenticator: LOCAL_AUTHENTICATOR,
      authorize: createAuthorize({}),
      version: '1',
      log: createLog({ logLevel: 'silent', logFormat: 'json' }),
      observe: () => {},
    })
    const headersOf = async (path: string) =>
      (await app.request(path, { headers: { authorization: 'Bearer x' } })).headers
    for (const path of ['/things/a', '/docs', '/docs/start.js'])
      expect((await headersOf(path)).get('x-content-type-options'), path).toBe('nosniff')
    expect((await headersOf('/docs')).get('content-security-policy')).toContain("frame-ancestors 'none'")
  })
})

describe('a request whose client has disconnected', () => {
  /** Answers a request whose client goes away before its handler fails. */
  async function failing(failure: (signal: AbortSignal) => unknown) {
    const log = createLog({ logLevel: 'silent', logFormat: 'json' })
    const logged = [vi.spyOn(log, 'error'), vi.spyOn(log, 'warn')]
    const client = new AbortController()
    const handle = () => {
      client.abort('The connection was closed')
      throw failure(client.signal)
    }
    const app = buildApp([routeOf('GET', '/things', handle)], {
      authenticator: LOCAL_AUTHENTICATOR,
      authorize: createAuthorize({}),
      version: '1',
      log,
      observe: () => {},
    })
    const headers = { authorization: 'Bearer x' }
    const { status } = await app.request('/things', { headers, signal: client.signal })
    return { status, logs: logged.flatMap(({ mock }) => mock.calls.map(([fields]) => fields)) }
  }

  it.each([
    ['the reason of the disconnection', ({ reason }: AbortSignal) => reason],
    ['an error because of it', ({ reason }: AbortSignal) => dependencyFailed('no answer', reason)],
    [
      'an abort of Node',
      ({ reason: cause }: AbortSignal) => new DOMException('aborted', { name: 'AbortError', cause }),
    ],
    ['a body that ends early', () => clientGone()],
  ])('499 without a log for %s', async (_what, failure) => {
    expect(await failing(failure)).toEqual({ status: 499, logs: [] })
  })

  it('499 with a log for an error of the server, and of a store', async () => {
    const bug = new TypeError('undefined is not a function')
    expect(await failing(() => bug)).toEqual({ status: 499, logs: [expect.objectContaining({ err: bug })] })
    const cause = new Error('the disk is full')
    const failed = await failing(() => new StoreFailed('not stored', cause))
    expect(failed).toEqual({ status: 499, logs: [{ err: cause }] })
  })
})

describe('ANY /a/path/of/the/API', () => {
  let folder = ''
  let app: ReturnType<typeof buildApp>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-app-'))
    await writeFile(join(folder, 'index.html'), '<!doctype html>page')
    const routes = [
      routeOf('POST', '/things/query'),
      routeOf('GET', '/things/{name}'),
      routeOf('DELETE', '/things/{name}'),
      routeOf('GET', '/all/{path+}'),
      routeOf('POST', '/only/write'),
    ]
    const log = createLog({ logLevel: 'error', logFormat: 'json' })
    const web = createWebPages(folder)
    app = buildApp(routes, {
      authenticator: LOCAL_AUTHENTICATOR,
      authorize: createAuthorize({}),
      version: '1',
      log,
      observe: () => {},
      web,
    })
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['PUT', '/things/query', 'DELETE, GET, HEAD, POST'],
    ['POST', '/things/a', 'DELETE, GET, HEAD'],
    ['PATCH', '/traces/things/a', 'DELETE, GET, HEAD'],
    ['DELETE', '/all/a/b', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['POST', '/openapi.json', 'GET, HEAD'],
    ['GET', '/only/write', 'POST'],
  ])('405 for %s %s, with the methods that it has', async (method, path, allow) => {
    const response = await app.request(path, { method })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe(allow)
    expect(await response.json()).toEqual({ detail: 'Method Not Allowed' })
  })

  it.each([
    ['GET', '/nothing'],
    ['POST', '/things'],
    ['GET', '/'],
    ['GET', '/assets/none.js'],
    ['OPTIONS', '/only/write'],
    ['HEAD', '/only/write'],
  ])('404 for %s %s', async (method, path) => {
    const response = await app.request(path, { method })
    expect(response.status).toBe(404)
    expect(response.headers.get('allow')).toBeNull()
  })

  it('200 with the page for people where the API has only other methods', async () => {
    const response = await app.request('/only/write', { headers: { accept: 'text/html' } })
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('page')
  })

  it('200 for HEAD where there is GET', async () => {
    const headers = { authorization: 'Bearer key' }
    expect((await app.request('/things/a', { method: 'HEAD', headers })).status).toBe(200)
  })

  it('200 for HEAD with the headers of a stream, which is closed', async () => {
    const cancel = vi.fn()
    const body = () => new ReadableStream<Uint8Array>({ cancel })
    const streaming = route({
      ...{ method: 'GET', path: '/stream', operationId: 'stream', summary: 'Probe', family: 'trace' },
      ...{ access: 'any-key', reply: 'raw', response: z.string() },
      handle: async () => ({ status: 200, headers: { 'content-length': '12' }, body: body() }),
    })
    const log = createLog({ logLevel: 'silent', logFormat: 'json' })
    const options = { authenticator: LOCAL_AUTHENTICATOR, authorize: createAuthorize({}), version: '1', log }
    const of = buildApp([streaming], { ...options, observe: () => {} })
    const headers = { authorization: 'Bearer key' }
    const response = await of.request('/stream', { method: 'HEAD', headers })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-length')).toBe('12')
    expect(await response.text()).toBe('')
    expect(cancel).toHaveBeenCalledOnce()
  })
})
