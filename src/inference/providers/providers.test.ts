import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestAccounts } from '../../accounts/test-accounts.ts'
import { createSecretKey } from '../../stores/secret-key.ts'
import { replyOf, useTestServer } from '../../testing.ts'

let folder = ''
const server = useTestServer({
  auth: 'keys',
  prepare: async (path) => {
    folder = path
  },
})
const accounts = createTestAccounts(server)

const API_KEY = 'sk-provider-secret-0123456789'

describe('GET /v1/accounts/teams/{entity}/providers, PUT and DELETE /v1/accounts/teams/{entity}/providers/{name}', () => {
  it('200 without the key, which is encrypted on disk and in no reply', async () => {
    const ann = await accounts.newUser('ann')
    const path = '/v1/accounts/teams/ann/providers'
    const set = await ann.put(`${path}/mine`, { base_url: 'https://models.example/v1', api_key: API_KEY })
    const texts = [
      await set.text(),
      await (await ann.get(path)).text(),
      await (await ann.get('/v1/accounts/audit?entity=ann')).text(),
    ]
    for (const text of texts) expect(text).not.toContain(API_KEY)
    expect(JSON.parse(texts[1] ?? '')).toMatchObject({
      data: [{ name: 'mine', has_key: true, source: 'team' }],
    })
    for (const file of ['control.sqlite', 'control.sqlite-wal'])
      expect((await readFile(join(folder, file))).includes(API_KEY), file).toBe(false)
    expect(await replyOf(await ann.delete(`${path}/mine`))).toEqual({ removed: true })
  })

  it('200 with the key kept for the same address, and dropped for another', async () => {
    const bob = await accounts.newUser('bob')
    const path = '/v1/accounts/teams/bob/providers/mine'
    const first = { base_url: 'https://models.example/v1', api_key: API_KEY }
    await replyOf(await bob.put(path, first))
    expect(await replyOf(await bob.put(path, { base_url: first.base_url }))).toMatchObject({ has_key: true })
    expect(await replyOf(await bob.put(path, { base_url: 'https://other.example/v1' }))).toMatchObject({
      has_key: false,
    })
  })

  it('400 for addresses that are not public, 403 for other teams', async () => {
    const cid = await accounts.newUser('cid')
    for (const host of ['127.0.0.1', '[::1]', '169.254.169.254', '10.0.0.1', 'localhost', 'a.localhost.'])
      expect(
        (await cid.put('/v1/accounts/teams/cid/providers/x', { base_url: `http://${host}/v1` })).status,
      ).toBe(400)
    const other = await cid.put('/v1/accounts/teams/ann/providers/x', { base_url: 'https://models.example' })
    expect(other.status).toBe(403)
  })

  it('an answer with status 400 where a name resolves to an address that is not public', async () => {
    const dee = await accounts.newUser('dee')
    const path = '/v1/accounts/teams/dee/providers/loop'
    await replyOf(await dee.put(path, { base_url: 'https://models.example/v1' }))
    // As one that HEDDLE_SCORER_HOSTS named when it was set.
    await server.stores.control
      .updateTable('providers')
      .set({ base_url: 'http://localhost:9999/v1' })
      .where('entity', '=', 'dee')
      .execute()
    const inputs = { model: 'loop/x', messages: [{ role: 'user', content: 'hi' }] }
    const reply = await dee.post('/completions/create', { project_id: 'dee/p', inputs })
    expect(JSON.stringify(await replyOf(reply))).toContain('localhost is not a public address')
  })

  it('an answer that asks for the key again where it was stored under another secret key', async () => {
    const eve = await accounts.newUser('eve')
    const path = '/v1/accounts/teams/eve/providers/mine'
    await replyOf(await eve.put(path, { base_url: 'https://models.example/v1', api_key: API_KEY }))
    // As it is after a restore without secret.key.
    const sealed_key = createSecretKey(Buffer.alloc(32, 'another')).seal(API_KEY)
    await server.stores.control
      .updateTable('providers')
      .set({ sealed_key })
      .where('entity', '=', 'eve')
      .execute()
    const inputs = { model: 'mine/x', messages: [{ role: 'user', content: 'hi' }] }
    const reply = await eve.post('/completions/create', { project_id: 'eve/p', inputs })
    expect(reply.status).toBe(200)
    expect(await reply.text()).toContain('The key of the provider mine cannot be read')
  })
})
