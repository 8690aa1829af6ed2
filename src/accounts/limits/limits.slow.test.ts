import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { openFakeCompute } from '../../stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../../test-app.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { createTestClient } from '../../tracking/test-client.ts'
import { group } from '../../training/test-group.ts'
import { createTestAccounts, type KeyClient } from '../test-accounts.ts'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const { as, operator, newUser } = createTestAccounts(server)

/** A team with an admin, and a member with a key. */
async function newTeam() {
  const name = newId()
  const [admin, member] = [`admin-${name.slice(-12)}`, `member-${name.slice(-12)}`]
  const adminClient = await newUser(admin)
  const memberClient = await newUser(member)
  const team = `team-${name.slice(-12)}`
  expect((await (await operator()).post('/v1/accounts/teams', { name: team, admin })).status).toBe(200)
  await replyOf(await adminClient.put(`/v1/accounts/teams/${team}/members/${member}`, { role: 'member' }))
  return { team, admin: adminClient, member: memberClient, memberName: member }
}

async function limitTeam(team: string, limits: Fields): Promise<Fields> {
  return replyOf(await (await operator()).put(`/v1/accounts/teams/${team}/limits`, limits))
}

/** A key of the client's own user for the project of a team, with its id. */
async function newKey(client: KeyClient, team: string): Promise<{ id: string; client: KeyClient }> {
  const body = { name: 'one', project_id: `${team}/project` }
  const made = await replyOf(await client.post('/v1/accounts/keys', body))
  return { id: String(made['id']), client: as(String(made['key'])) }
}

const statsOf = (client: KeyClient, team: string) =>
  client.post('/calls/query_stats', { project_id: `${team}/project` })

const start = (team: string, text = 'x') => ({
  start: {
    project_id: `${team}/project`,
    op_name: 'op',
    started_at: '2026-01-01T00:00:00Z',
    attributes: {},
    inputs: { text },
  },
})

async function refusalOf(response: Response) {
  const body = (await response.json()) as Fields
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, text: String(body['reason'] ?? body['detail']), retryAfter }
}

describe('PUT and GET /v1/accounts/teams/{entity}/limits', () => {
  it('200 and counts the requests of all keys of the team, from the next one on, until it is changed', async () => {
    const { team, admin, member } = await newTeam()
    expect((await statsOf(member, team)).headers.get('x-ratelimit-limit-requests')).toBeNull()
    expect(await limitTeam(team, { requests_per_minute: 3 })).toMatchObject({
      limits: { requests_per_minute: 3 },
    })
    const first = await statsOf(member, team)
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('3')
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('2')
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+(\.\d)?s$/)
    expect((await statsOf(admin, team)).headers.get('x-ratelimit-remaining-requests')).toBe('1')
    await statsOf(member, team)
    const refused = await statsOf(admin, team)
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const { status, text, retryAfter } = await refusalOf(refused)
    expect([status, Number(retryAfter) > 0]).toEqual([429, true])
    expect(text).toMatch(new RegExp(`limit of ${team} is 3 requests a minute: try again in \\d+ s`))
    await limitTeam(team, { requests_per_minute: 100 })
    expect((await statsOf(admin, team)).status).toBe(200)
    const shown = await replyOf(await (await operator()).get(`/v1/accounts/teams/${team}/limits`))
    expect(shown).toEqual({
      ...{ entity: team, limits: { requests_per_minute: 100 }, storage_bytes_used: null },
      version: expect.any(String),
    })
    const other = `/v1/accounts/teams/${team}/limits?if_version=other`
    expect((await (await operator()).put(other, {})).status).toBe(409)
    const same = `/v1/accounts/teams/${team}/limits?if_version=${shown['version']}`
    expect((await (await operator()).put(same, { requests_per_minute: 100 })).status).toBe(200)
    await limitTeam(team, {})
    expect((await statsOf(admin, team)).headers.get('x-ratelimit-limit-requests')).toBeNull()
    const audit = await replyOf<{ data: Fields[] }>(await admin.get(`/v1/accounts/audit?entity=${team}`))
    expect(audit.data.filter(({ action }) => action === 'limits.set')).toHaveLength(4)
  })

  it('200 for an operator whose own entity has used its limit up', async () => {
    const entity = String((await replyOf(await (await operator()).get('/v1/accounts/me')))['default_entity'])
    await limitTeam(entity, { requests_per_minute: 1 })
    const asked = await Promise.all([1, 2].map(async () => (await statsOf(await operator(), entity)).status))
    expect(asked.sort()).toEqual([200, 429])
    await limitTeam(entity, {})
    expect((await statsOf(await operator(), entity)).status).toBe(200)
  })

  it('403 for its admins, who may read them, and 422 for a limit that there is not', async () => {
    const { team, admin, member } = await newTeam()
    expect((await admin.put(`/v1/accounts/teams/${team}/limits`, {})).status).toBe(403)
    expect((await member.get(`/v1/accounts/teams/${team}/limits`)).status).toBe(200)
    expect((await (await newUser(newId())).get(`/v1/accounts/teams/${team}/limits`)).status).toBe(403)
    const put = async (limits: Fields) =>
      (await (await operator()).put(`/v1/accounts/teams/${team}/limits`, limits)).status
    expect([await put({ requests: 3 }), await put({ requests_per_minute: 0 })]).toEqual([422, 422])
  })

  it('413 for a larger body than the team may send, and for a query that looks through more rows', async () => {
    const { team, member } = await newTeam()
    for (let call = 0; call < 3; call++) await replyOf(await member.post('/call/start', start(team)))
    await limitTeam(team, { body_bytes: 1000, query_rows: 2 })
    const large = await refusalOf(await member.post('/call/start', start(team, 'x'.repeat(1000))))
    expect(large).toMatchObject({ status: 413, text: expect.stringMatching(`limit of ${team} is 1000`) })
    expect((await member.post('/call/start', start(team))).status).toBe(200)
    const rows = await refusalOf(await statsOf(member, team))
    expect(rows).toMatchObject({
      status: 413,
      text: expect.stringMatching(/more rows than the 2 .*ask for less/),
    })
    await limitTeam(team, { query_rows: 1_000_000, query_seconds: 60 })
    expect((await statsOf(member, team)).status).toBe(200)
  })

  it('429 and 413 for what a document of GraphQL, or a completion, asks of the team', async () => {
    const { team, member } = await newTeam()
    const input = { entityName: team, modelName: 'project', name: 'run', config: '{}' }
    const upsert = (config = '{}') =>
      member.post('/graphql', {
        query: 'mutation ($input: UpsertBucketInput!) { upsertBucket(input: $input) { inserted } }',
        variables: { input: { ...input, config } },
      })
    await limitTeam(team, { body_bytes: 1000, requests_per_minute: 3 })
    const text = 'x'.repeat(1000)
    const large = await replyOf<{ errors: Fields[] }>(await upsert(JSON.stringify({ text })))
    expect(large.errors[0]?.['message']).toMatch(`limit of ${team} is 1000`)
    const chat = { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: text }] }
    const headers = { 'openai-project': `${team}/project` }
    const answer = await member.send('POST', '/v1/chat/completions', { body: chat, headers })
    expect(answer.status).toBe(413)
    expect(await replyOf(await upsert())).toMatchObject({ data: { upsertBucket: { inserted: true } } })
    const refused = await upsert()
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  })

  it('402 where the storage of the team is full, and not for what deletes', async () => {
    const { team, member } = await newTeam()
    const added = await replyOf(await member.post('/call/start', start(team, 'x'.repeat(2000))))
    const limited = await limitTeam(team, { storage_bytes: 10_000 })
    expect(limited['storage_bytes_used']).toBeGreaterThan(2000)
    expect((await member.post('/call/start', start(team, 'x'.repeat(6000)))).status).toBe(200)
    const full = await refusalOf(await member.post('/call/start', start(team, 'x'.repeat(6000))))
    expect(full).toMatchObject({ status: 402, retryAfter: '600' })
    expect(full.text).toMatch(
      new RegExp(`${team} stores \\d+ bytes.* limit of storage_bytes is 10000: delete data`),
    )
    const deleting = { project_id: `${team}/project`, call_ids: [added['id']] }
    expect((await member.post('/calls/delete', deleting)).status).toBe(200)
    expect((await member.send('POST', '/v1/preview/training-data', { body: '{}' })).status).not.toBe(402)
  })

  it('402 for uploads beyond the storage of the team, whether their length was announced or not', async () => {
    const { team, member } = await newTeam()
    const of = { entityName: team, projectName: 'project' }
    const { mutate, follow } = createTestClient(server, member.key)
    await mutate('upsertBucket', 'bucket { id }', { entityName: team, modelName: 'project', name: 'r' })
    await limitTeam(team, { storage_bytes: 10_000 })
    const use = async () => {
      const limits = await replyOf(await (await operator()).get(`/v1/accounts/teams/${team}/limits`))
      return Number(limits['storage_bytes_used'])
    }
    const upload = async (name: string, size: number | string[], headers: Record<string, string> = {}) => {
      const fields = { ...of, runName: 'r', files: [name] }
      const { files } = await mutate('createRunFiles', 'files { uploadUrl }', fields)
      const body =
        typeof size === 'number'
          ? 'x'.repeat(size)
          : ReadableStream.from(size.map((text) => Buffer.from(text)))
      return (await follow(files[0].uploadUrl, { method: 'PUT', body, headers, duplex: 'half' })).status
    }
    const before = await use()
    expect(await upload('a', 3000)).toBe(200)
    expect(await upload('b', 3000, { 'content-length': '3000' })).toBe(200)
    expect((await use()) - before).toBe(6000)
    expect([await upload('c', 5000), await upload('d', 5000, { 'content-length': '5000' })]).toEqual([
      402, 402,
    ])
    expect(await upload('e', ['x'.repeat(2000), 'x'.repeat(3000)])).toBe(402)
    expect((await use()) - before).toBe(6000)

    const artifact = { entity: team, project: 'project', name: 'art', files: { f: 'x'.repeat(5000) } }
    const { open, fileUrl } = createTestClient(server, member.key)
    const url = await fileUrl((await open(artifact)).id, 'f', artifact.files.f)
    expect((await follow(url, { method: 'PUT', body: artifact.files.f })).status).toBe(402)

    const { client } = await newKey(member, team)
    const message = { role: 'user', content: 'x'.repeat(5000) }
    const line = JSON.stringify({ messages: [message, { role: 'assistant', content: 'y' }] })
    expect((await client.send('POST', '/v1/preview/training-data', { body: line })).status).toBe(402)
    const named = { entity: team, project: 'project', name: 'm', base_model: TEST_BASE_MODEL }
    const { id } = await replyOf(await client.post('/v1/preview/models', named))
    const groups = { model_id: id, split: 'val', trajectory_groups: [group(message.content)] }
    expect((await client.post(`/v1/preview/models/${id}/log`, groups)).status).toBe(402)
  })

  it('429 for completions beyond the tokens of a minute, with what is left in headers', async () => {
    const { team, member } = await newTeam()
    await limitTeam(team, { tokens_per_minute: 5 })
    const chat = () =>
      member.send('POST', '/v1/chat/completions', {
        body: { model: TEST_BASE_MODEL, messages: [{ role: 'user', content: 'hi' }] },
        headers: { 'openai-project': `${team}/project` },
      })
    const first = await chat()
    expect([first.status, first.headers.get('x-ratelimit-limit-tokens')]).toEqual([200, '5'])
    expect(first.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
    await first.text()
    const refused = await chat()
    expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0')
    expect(refused.headers.get('x-ratelimit-reset-tokens')).toMatch(/s$/)
    const { status, text, retryAfter } = await refusalOf(refused)
    expect([status, Number(retryAfter) > 0]).toEqual([429, true])
    expect(text).toMatch(/This team has used \d+ tokens within a minute, and its limit is 5/)
    await limitTeam(team, {})
    expect((await chat()).status).toBe(200)
  })
})

describe('PUT and GET /v1/accounts/keys/{key_id}/limits', () => {
  it('200 for an admin of its team, and no other key is limited by it', async () => {
    const { team, admin, member } = await newTeam()
    const [one, other] = [await newKey(member, team), await newKey(member, team)]
    const path = `/v1/accounts/keys/${one.id}/limits`
    expect(await replyOf(await admin.put(path, { requests_per_minute: 1 }))).toEqual({
      key_id: one.id,
      entity: team,
      limits: { requests_per_minute: 1 },
      version: expect.any(String),
      entity_limits: {},
    })
    expect((await statsOf(one.client, team)).headers.get('x-ratelimit-remaining-requests')).toBe('0')
    const refused = await refusalOf(await statsOf(one.client, team))
    expect(refused).toMatchObject({
      status: 429,
      text: expect.stringMatching('limit of this key is 1 request'),
    })
    expect((await one.client.get('/health')).status).toBe(200)
    expect((await statsOf(other.client, team)).status).toBe(200)
    await replyOf(await admin.put(path, {}))
    expect((await statsOf(one.client, team)).status).toBe(200)
  })

  it('400 for more than the team has, and the tighter of both holds', async () => {
    const { team, admin, member } = await newTeam()
    const { id, client } = await newKey(member, team)
    await limitTeam(team, { requests_per_minute: 5 })
    const refused = await admin.put(`/v1/accounts/keys/${id}/limits`, { requests_per_minute: 6 })
    expect(await refusalOf(refused)).toMatchObject({
      status: 400,
      text: `requests_per_minute of ${team} is 5, and a key may not have 6`,
    })
    await replyOf(await admin.put(`/v1/accounts/keys/${id}/limits`, { requests_per_minute: 2 }))
    const reply = await statsOf(client, team)
    expect(reply.headers.get('x-ratelimit-limit-requests')).toBe('2')
  })

  it('403 for its user, who may read them, and 404 for everybody else', async () => {
    const { team, member } = await newTeam()
    const { id } = await newKey(member, team)
    const path = `/v1/accounts/keys/${id}/limits`
    expect((await member.put(path, {})).status).toBe(403)
    expect(await replyOf(await member.get(path))).toMatchObject({ entity: team, limits: {} })
    const stranger = await newUser(newId())
    expect([(await stranger.get(path)).status, (await stranger.put(path, {})).status]).toEqual([404, 404])
    expect((await (await operator()).put(path, {})).status).toBe(200)
  })

  it('404 for the admin of a team about keys of its members that reach other teams too', async () => {
    const { admin, member, memberName } = await newTeam()
    const made = await replyOf(await member.post('/v1/accounts/keys', { name: 'everywhere' }))
    const path = `/v1/accounts/keys/${made['id']}/limits`
    expect([(await admin.get(path)).status, (await admin.put(path, {})).status]).toEqual([404, 404])
    expect(await replyOf(await member.put(path, { running_requests: 2 }))).toMatchObject({
      entity: memberName,
      limits: { running_requests: 2 },
    })
  })

  it('413 for a larger body than the key may send, before it is read', async () => {
    const { team, admin, member } = await newTeam()
    const { id, client } = await newKey(member, team)
    await replyOf(await admin.put(`/v1/accounts/keys/${id}/limits`, { body_bytes: 500 }))
    const refused = await refusalOf(await client.post('/call/start', start(team, 'x'.repeat(1000))))
    expect(refused).toMatchObject({
      status: 413,
      text: expect.stringMatching('the limit is 500 bytes; send less'),
    })
  })
})
