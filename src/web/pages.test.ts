import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthorize } from '../http/access.ts'
import { LOCAL_AUTHENTICATOR } from '../http/auth.ts'
import { buildApp } from '../http/build-app.ts'
import { createLog } from '../log.ts'
import { createWebPages } from './pages.ts'

const HTML = { accept: 'text/html,application/xhtml+xml', 'accept-encoding': 'gzip, br' }

describe('the web UI', () => {
  let folder = ''
  let app: ReturnType<typeof buildApp>

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-web-'))
    await mkdir(join(folder, 'assets'))
    await writeFile(join(folder, 'index.html'), '<!doctype html>page')
    await writeFile(join(folder, 'assets/main-1.js'), 'plain')
    await writeFile(join(folder, 'assets/main-1.js.br'), 'smaller')
    await writeFile(join(folder, 'secret.txt'), 'not served')
    const log = createLog({ logLevel: 'error', logFormat: 'json' })
    const web = createWebPages(folder)
    app = buildApp([], {
      authenticator: LOCAL_AUTHENTICATOR,
      authorize: createAuthorize({}),
      version: '1',
      log,
      observe: () => {},
      web,
    })
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it("200 with the page at every address that is not the API's", async () => {
    for (const path of ['/', '/local/demo/traces', '/local/demo/r/call/0197']) {
      const response = await app.request(path, { headers: HTML })
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-cache')
      expect(response.headers.get('content-security-policy')).toContain("script-src 'self'")
      expect(await response.text()).toContain('page')
    }
  })

  it('404 as JSON for programs, for other methods and below the API', async () => {
    const asked = [
      app.request('/local/demo/traces'),
      app.request('/local/demo/traces', { method: 'POST', headers: HTML }),
      app.request('/v1/nothing', { headers: HTML }),
      app.request('/assets/main-2.js', { headers: HTML }),
    ]
    for (const response of await Promise.all(asked)) {
      expect(response.status).toBe(404)
      expect(await response.json()).toEqual({ detail: 'Not Found' })
    }
  })

  it('200 with files for ever, compressed where the browser can read it', async () => {
    const plain = await app.request('/assets/main-1.js')
    expect(plain.headers.get('cache-control')).toContain('immutable')
    expect(plain.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await plain.text()).toBe('plain')
    const smaller = await app.request('/assets/main-1.js', { headers: HTML })
    expect(smaller.headers.get('content-encoding')).toBe('br')
    expect(await smaller.text()).toBe('smaller')
  })

  it('404 for files that are not in the build', async () => {
    for (const path of ['/assets/..%2fsecret.txt', '/secret.txt', '/assets/../secret.txt'])
      expect((await app.request(path)).status).toBe(404)
  })
})
