import { describe, expect, it } from 'vitest'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'
import { createRequestWindows } from './request-windows.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)

async function limit(team: string, limits: object): Promise<void> {
  const path = `/v1/accounts/teams/${team}/limits`
  await replyOf(await (await accounts.operator()).put(path, limits))
}

function count(client: KeyClient, project_id: string): Promise<Response> {
  return client.post('/calls/query_stats', { project_id })
}

async function keyId(client: KeyClient): Promise<string> {
  const { data } = await replyOf<{ data: Fields[] }>(await client.get('/v1/accounts/keys'))
  return String(data[0]?.['id'])
}

describe('GET and PUT /v1/accounts/teams/{entity}/limits', () => {
  it('429 beyond the requests of a minute, at once after a change, with what is left before', async () => {
    const ann = await accounts.newUser('ann')
    await limit('ann', { requests_per_minute: 2 })
    const first = await count(ann, 'ann/p')
    expect(first.status).toBe(200)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1')
    expect((await count(ann, 'ann/q')).status).toBe(200)
    const refused = await count(ann, 'ann/p')
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await refused.text()).toContain('2 requests a minute are the limit of ann')
    await limit('ann', {})
    expect((await count(ann, 'ann/p')).status).toBe(200)
  })

  it('403 for admins of the team, who may read them', async () => {
    const bob = await accounts.newUser('bob')
    expect((await bob.put('/v1/accounts/teams/bob/limits', {})).status).toBe(403)
    expect(await replyOf(await bob.get('/v1/accounts/teams/bob/limits'))).toMatchObject({
      requests_per_minute: null,
    })
  })
})

describe('GET and PUT /v1/accounts/keys/{key_id}/limits', () => {
  it('429 for the key alone, 404 for keys of others', async () => {
    const cid = await accounts.newUser('cid')
    const path = `/v1/accounts/keys/${await keyId(cid)}/limits`
    const made = await replyOf(await cid.post('/v1/accounts/keys', { name: 'other' }))
    await replyOf(await cid.put(path, { requests_per_minute: 1 }))
    const other = accounts.as(String(made['key']))
    await count(cid, 'cid/p')
    expect((await count(cid, 'cid/p')).status).toBe(429)
    expect((await count(other, 'cid/p')).status).toBe(200)
    expect((await (await accounts.newUser('dee')).get(path)).status).toBe(404)
  })
})

describe('GET /v1/accounts/teams/{entity}/budget', () => {
  it('200 with what is spent; completions are 402 from then on, and carry a warning before', async () => {
    const eve = await accounts.newUser('eve')
    await limit('eve', { tokens_per_month: 1, warn_at: 0 })
    const headers = { 'openai-project': 'eve/p' }
    const body = { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'hi' }] }
    const chat = () => eve.send('POST', '/v1/chat/completions', { body, headers })
    const first = await chat()
    expect(first.status, await first.clone().text()).toBe(200)
    expect(first.headers.get('x-heddle-budget-remaining')).toBe('1.000')
    expect(first.headers.get('x-heddle-budget-warning')).not.toBeNull()
    const second = await chat()
    expect(second.status).toBe(402)
    expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await replyOf(await eve.get('/v1/accounts/teams/eve/budget'))).toMatchObject({
      tokens_per_month: 1,
      is_spent: true,
    })
    await limit('eve', { tokens_per_month: 1_000_000 })
    expect((await chat()).status).toBe(200)
  })
})

describe('createRequestWindows', () => {
  it('counts anew in each minute', () => {
    let at = 0
    const windows = createRequestWindows(() => at)
    expect(windows.take('a', 1)).toMatchObject({ remaining: 0, resetSeconds: 60 })
    at = 59_999
    expect(windows.take('a', 1)).toMatchObject({ remaining: -1, resetSeconds: 1 })
    at = 60_000
    expect(windows.take('a', 1)).toMatchObject({ remaining: 0 })
  })
})
