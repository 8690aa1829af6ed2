import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'
import { createLimitBook } from './limit-book.ts'

const keyLimits = { requestsMax: 3, tokensPerMinute: 1000 }
const server = useTestServer({ auth: 'keys', compute: openFakeCompute, inference: { keyLimits } })
const { as, operator, newUser } = createTestAccounts(server)

/** A person, who is an admin of the own entity, with a key of it. */
async function newAdmin(name: string) {
  const admin = await newUser(name)
  const { id, key } = await replyOf(await admin.post('/v1/accounts/keys', { name: 'one' }))
  return { admin, path: `/v1/accounts/keys/${id}/limits`, id: String(id), client: as(String(key)) }
}

/** The limit of tokens that a completion was under. */
async function tokensOf(client: KeyClient): Promise<string | null> {
  const chat = { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'hi' }] }
  const answer = await client.post('/v1/chat/completions', chat)
  await answer.text()
  return answer.headers.get('x-ratelimit-limit-tokens')
}

async function storedOf(name: string): Promise<Fields | undefined> {
  const { control } = server.stores
  return control.selectFrom('usage_limits').selectAll().where('name', '=', name).executeTakeFirst()
}

describe('PUT /v1/accounts/keys/{key_id}/limits', () => {
  it('400 for more than keys may have here, where no operator asks, and nothing is stored', async () => {
    const { admin, path, id, client } = await newAdmin('ada')
    for (const [name, most] of [
      ['tokens_per_minute', 1000],
      ['running_requests', 3],
    ] as const) {
      const refused = await admin.put(path, { [name]: most + 1 })
      expect([refused.status, ((await refused.json()) as Fields)['detail']]).toEqual([
        400,
        `${name} of a key is at most ${most} here, and only an operator may store ${most + 1}`,
      ])
    }
    expect(await storedOf(id)).toBeUndefined()
    expect(await tokensOf(client)).toBe('1000')
  })

  it('200 for less, and for more by an operator, until a caller who is no operator stores limits', async () => {
    const { admin, path, client } = await newAdmin('bea')
    await replyOf(await admin.put(path, { tokens_per_minute: 500 }))
    expect(await tokensOf(client)).toBe('500')
    await replyOf(await (await operator()).put(path, { tokens_per_minute: 5000 }))
    expect(await tokensOf(client)).toBe('5000')
    const { version, limits } = await replyOf(await admin.get(path))
    expect(limits).toEqual({ tokens_per_minute: 5000 })
    await replyOf(await admin.put(`${path}?if_version=${version}`, { running_requests: 2 }))
    expect(await tokensOf(client)).toBe('1000')
  })
})

describe('a limit that was stored before', () => {
  const row = { limits: '{"evaluations":9,"tokens_per_minute":5000}', updated_at: '2026-01-01T00:00:00Z' }

  beforeAll(async () => {
    const rows = [
      { kind: 'key' as const, name: 'raised', by_operator: 0 },
      { kind: 'key' as const, name: 'granted', by_operator: 1 },
      { kind: 'entity' as const, name: 'team', by_operator: 0 },
    ].map((one) => ({ ...row, ...one, updated_by: 'x' }))
    await server.stores.control.insertInto('usage_limits').values(rows).execute()
  })
  afterAll(() => server.stores.control.deleteFrom('usage_limits').where('updated_by', '=', 'x').execute())

  it('holds up to what keys may have, unless an operator stored it', async () => {
    const stored = createLimitBook({ control: server.stores.control, keyLimits })
    await stored.load()
    expect(stored.of('key', 'raised')).toEqual({ evaluations: 9, tokens_per_minute: 1000 })
    expect(stored.of('key', 'granted')).toEqual({ evaluations: 9, tokens_per_minute: 5000 })
    expect(stored.of('entity', 'team')).toEqual({ evaluations: 9, tokens_per_minute: 5000 })
  })
})
