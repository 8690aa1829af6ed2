import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Finding } from '../scripts/heddle/doctor/check.ts'
import { serverChecks } from '../scripts/heddle/doctor/server-checks.ts'
import { readConfig } from '../src/config.ts'
import { listen } from '../src/http/listen.ts'
import { openTestApp, type TestApp } from '../src/test-app.ts'
import { CERT, KEY } from '../src/test-certificate.ts'
import { heddle } from './run-command.ts'

/** More than a server puts on a page. */
const MANY = 101

let folder: string
let data: string
let opened: TestApp
let url: string
let key: string
let link: string
const closing = new AsyncDisposableStack()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'heddle-command-'))
  data = join(folder, 'data')
  opened = closing.use(await openTestApp(data, { auth: 'keys' }))
  const server = closing.use(await listen(opened.app, { host: '127.0.0.1', port: 0 }))
  url = server.url
  opened.stores.announce(url)
  link = url + (await opened.accounts.sessions.firstSignIn())
  const { out } = await heddle(['keys', 'create', 'first', '--link', link, '--json'])
  key = String(JSON.parse(out).key)
})
afterAll(async () => {
  await closing.disposeAsync()
  await rm(folder, { recursive: true, force: true })
})

/**
 * The same server encrypted, as its data folder announces it until disposal: on all addresses, none of which is a name
 * of its certificate that a client trusts.
 */
async function encrypted(certificate?: string): Promise<AsyncDisposable> {
  const server = await listen(opened.app, { host: '0.0.0.0', port: 0, tls: { cert: CERT, key: KEY } })
  opened.stores.announce(server.url, certificate ?? server.certificate)
  return {
    async [Symbol.asyncDispose]() {
      opened.stores.announce(url)
      await server[Symbol.asyncDispose]()
    },
  }
}

/** What the doctor finds of the server of the data folder. */
async function serverFinding(): Promise<Finding | undefined> {
  const check = serverChecks(readConfig({ HEDDLE_DATA: data })).find(({ name }) => name === 'server')
  return await check?.run()
}

/** A service that is no Heddle: it answers everything so. */
async function answering(text: string): Promise<AsyncDisposable & { url: string }> {
  const server = createServer((_, response) => response.end(text))
  await new Promise<void>((fulfil) => server.listen(0, '127.0.0.1', fulfil))
  // The address of a port is no string.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => new Promise((fulfil) => server.close(() => fulfil())),
  }
}

describe('heddle users, keys and teams list', () => {
  it.each([
    ['users', (index: number) => ({ name: `user-${index}` })],
    ['keys', (index: number) => ({ name: `key-${index}` })],
    ['teams', (index: number) => ({ name: `team-${index}` })],
  ])('0 with all %s, also those of further pages', async (what, bodyOf) => {
    for (let index = 0; index < MANY; index++) {
      const made = await fetch(`${url}/v1/accounts/${what}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(bodyOf(index)),
      })
      expect(made.ok).toBe(true)
    }
    const { code, out } = await heddle([what, 'list', '--url', url, '--json'], folder, {
      HEDDLE_API_KEY: key,
    })
    expect(code).toBe(0)
    const rows = JSON.parse(out) as { name: string }[]
    const names = new Set(rows.map(({ name }) => name))
    expect(names.size).toBe(rows.length)
    for (let index = 0; index < MANY; index++) expect(names).toContain(bodyOf(index).name)
  })
})

describe('heddle with a server that is asked', () => {
  it('0 for the server and the key of variables, of which empty ones count as none', async () => {
    const env = { HEDDLE_URL: url, HEDDLE_API_KEY: '', WANDB_API_KEY: key }
    expect(await heddle(['users', 'list'], folder, env)).toMatchObject({ code: 0 })
    const ofFolder = { HEDDLE_URL: '', HEDDLE_DATA: data, HEDDLE_API_KEY: key }
    expect(await heddle(['users', 'list'], folder, ofFolder)).toMatchObject({ code: 0 })
  })

  it('1 for a data folder that none holds, though a variable names a server', async () => {
    const { code, err } = await heddle(['users', 'list', '--data', 'none'], folder, { HEDDLE_URL: url })
    expect(code).toBe(1)
    expect(err).toContain('No server runs')
  })

  it.each([
    [{ HEDDLE_URL: '127.0.0.1:9400' }, 'HEDDLE_URL: It is an address with http://'],
    [{ HEDDLE_URL: 'http://127.0.0.1:9400', HEDDLE_API_KEY: 'schlüssel' }, 'see HEDDLE_API_KEY'],
  ])('1 for %j, with the name of the variable', async (env, message) => {
    const { code, err } = await heddle(['users', 'list'], folder, env)
    expect(code).toBe(1)
    expect(err).toContain(message)
  })

  it.each(['<html>\n</html>\n', '<html></html>', '{"hello": "world"}\n', ''])(
    '1 for a service that answers %j',
    async (text) => {
      await using service = await answering(text)
      const asking = ['--url', service.url, '--key', 'local', '--json']
      const signIn = ['--link', `${service.url}/sign-in#token`, '--json']
      for (const args of [
        ['users', 'list', ...asking],
        ['backup', join(folder, 'backup'), ...asking],
        ['keys', 'create', 'x', ...signIn],
      ]) {
        const { code, out } = await heddle(args, folder)
        expect(code).toBe(1)
        expect(JSON.parse(out)).toEqual({
          error: `${service.url} is no Heddle server, or one of another version`,
        })
      }
    },
  )

  it('0 for a server of its data folder, whatever name its certificate is for', async () => {
    await using _encrypted = await encrypted()
    expect(await heddle(['users', 'list', '--key', key, '--data', data])).toMatchObject({ code: 0, err: '' })
    expect(await serverFinding()).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+ is ok$/),
    })
  })

  it('1 for a server with another certificate than that of the data folder, with the option that names one', async () => {
    await using _encrypted = await encrypted('AB:CD')
    const { code, err } = await heddle(['users', 'list', '--key', key, '--data', data])
    expect(code).toBe(1)
    expect(err).toContain('with another certificate: name the right one with --url https://NAME')
    expect(await serverFinding()).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('another certificate'),
    })
  })

  it('1 for a link that was used, with the reason, and for one of a server that is away', async () => {
    const used = await heddle(['keys', 'create', 'x', '--link', link])
    expect(used.code).toBe(1)
    expect(used.err).toMatch(/^\d{3}: [^{]*link/)
    const { url: gone } = await (async () => {
      await using service = await answering('')
      return service
    })()
    const away = await heddle(['keys', 'create', 'x', '--link', `${gone}/sign-in#token`])
    expect(away).toMatchObject({ code: 1, err: expect.stringContaining(`${gone} cannot be reached`) })
  })
})
