import { once } from 'node:events'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { Provider } from 'oidc-provider'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReady, pythonIn } from '../../scripts/python-environments.ts'
import { clientFolders } from './client-folders.ts'
import { clientProgram } from './client-program.ts'
import { runClient, startServer, type WireServer } from './server.ts'

const AUDIENCE = 'heddle'
const SUBJECT = 'system:serviceaccount:ci:trainer'

let server: WireServer
let issuer: { url: string; http: Server; sign(claims: object): Promise<string> }

beforeAll(async () => {
  issuer = await startIssuer()
  server = await startServer(
    {
      HEDDLE_AUTH: 'keys',
      HEDDLE_IDENTITY_HOSTS: new URL(issuer.url).host,
      HEDDLE_CACHE: '/nonexistent/cache',
    },
    { teams: ['wire'] },
  )
  await send('POST', '/v1/accounts/teams/local/service-accounts', { name: 'local-ci' })
  await send('PUT', '/v1/accounts/teams/wire/members/local-ci', { role: 'member' })
  const trusted = {
    issuer: issuer.url,
    audience: AUDIENCE,
    claims: { sub: 'system:serviceaccount:ci:*' },
    service_account: 'local-ci',
  }
  await send('PUT', '/v1/accounts/teams/local/identity-providers', { data: [trusted] })
})
afterAll(async () => {
  issuer.http.closeAllConnections()
  issuer.http.close()
  await server[Symbol.asyncDispose]()
})

/** A real provider, whose own key also signs what a cluster would give to its programs. */
async function startIssuer(): Promise<typeof issuer> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(privateKey)), kid: 'wire', alg: 'RS256', use: 'sig' }
  const http = createServer()
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  http.on('request', new Provider(url, { jwks: { keys: [key] } }).callback())
  const sign = (claims: object) =>
    new SignJWT({ iss: url, aud: AUDIENCE, sub: SUBJECT, ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: 'wire' })
      .setIssuedAt()
      .setExpirationTime('10m')
      .sign(privateKey)
  return { url, http, sign }
}

async function send(method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' }
  const reply = await fetch(server.url + path, { method, headers, body: JSON.stringify(body) })
  expect(reply.status, await reply.text()).toBe(200)
}

/** Settings of a client without a key, which reads its token from a file. */
async function settings(claims: object = {}): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-identity-'))
  await writeFile(join(folder, 'token'), `${await issuer.sign(claims)}\n`)
  return {
    WANDB_BASE_URL: server.url,
    WANDB_API_KEY: '',
    WANDB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
    WANDB_CREDENTIALS_FILE: join(folder, 'credentials.json'),
    ...clientFolders(folder),
  }
}

async function failures(): Promise<string[]> {
  const failed = (await server.takeRequests()).filter(({ status }) => status >= 400)
  return failed.map(({ path, status }) => `${status} ${path}`)
}

describe('WANDB_IDENTITY_TOKEN_FILE without a key', () => {
  it('clients: wandb logs a run and an artifact, and reads them', async () => {
    const env = await settings()
    const seen = await runClient([pythonIn('clients'), clientProgram('wandb_run.py'), 'identity'], env)
    expect(seen).toMatchObject({ state: 'finished', losses: [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5], file: 'one' })
    expect(await failures()).toEqual([])
    const kept: unknown = JSON.parse(await readFile(env['WANDB_CREDENTIALS_FILE'] ?? '', 'utf8'))
    expect(kept).toMatchObject({ credentials: { [server.url]: { access_token: expect.any(String) } } })
  })

  // Wire: this version uses identity tokens for runs, and keys alone for artifacts and for its API of reads.
  it.skipIf(!isReady('clients-oldest'))('clients-oldest: wandb logs a run', async () => {
    const env = await settings()
    const program = [pythonIn('clients-oldest'), clientProgram('wandb_metrics.py'), 'oldest']
    expect(await runClient([...program, env['WANDB_DATA_DIR'] ?? ''], env)).toEqual({ entity: 'local' })
    expect(await failures()).toEqual([])
    const headers = { authorization: `Bearer ${server.key}` }
    const read = await fetch(`${server.url}/v1/preview/runs?entity=local&project=oldest`, { headers })
    expect(await read.json()).toMatchObject({ data: [{ run: 'only', state: 'finished' }] })
  })

  it('clients: weave logs and reads calls, objects, evaluations and feedback', async () => {
    const seen = await runClient([pythonIn('clients'), clientProgram('weave_basic.py')], await settings())
    expect(seen).toMatchObject({ calls: { output: { v: 4, u: 5 } }, objects: { same_again: true } })
    expect(await failures()).toEqual([])
  })

  it('clients: a token of somebody else logs nothing', async () => {
    const env = await settings({ sub: 'system:serviceaccount:other:trainer' })
    const run = runClient([pythonIn('clients'), clientProgram('wandb_run.py'), 'identity-other'], env)
    await expect(run).rejects.toThrow('fit no identity provider')
    expect(new Set(await failures())).toEqual(new Set(['400 /oidc/token']))
  })
})
