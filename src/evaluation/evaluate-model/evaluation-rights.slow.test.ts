import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { publishing } from '../test-objects.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  auth: 'keys',
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
})
const accounts = createTestAccounts(server)

/** A busy machine takes longer than vitest's default of a second. */
const WAIT_MAX = { timeout: 60_000 }

let anna: KeyClient

beforeAll(async () => {
  anna = await accounts.newUser('anna')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: 'red', admin: 'anna' })
})

/** A new member of the team, with a key of a known id. */
async function newMember(name: string): Promise<{ keyId: string; client: KeyClient }> {
  const user = await accounts.newUser(name)
  await replyOf(await anna.put(`/v1/accounts/teams/red/members/${name}`, { role: 'member' }))
  const { id, key } = await replyOf(await user.post('/v1/accounts/keys', { name: 'one' }))
  return { keyId: String(id), client: accounts.as(String(key)) }
}

/** Begins an evaluation of which one row is answered and all others that have begun wait for their model. */
async function beginIn(project_id: string, client: KeyClient): Promise<string> {
  const request = (path: string, init: RequestInit) =>
    anna.send(init.method ?? 'GET', path, { body: init.body })
  const objects = publishing({ ...server, request, post: anna.post })
  const rows = Array.from({ length: 40 }, (_, n) => ({ user_input: n === 0 ? 'say x' : 'hang' }))
  const evaluation_ref = await objects.evaluation(project_id, await objects.dataset(project_id, rows), [])
  const refs = { evaluation_ref, model_ref: await objects.model(project_id) }
  const { call_id } = await replyOf(await client.post('/evaluations/evaluate_model', { project_id, ...refs }))
  const begun = { code: 'running', completed_rows: 1, total_rows: 40 }
  await vi.waitFor(async () => expect(await statusOf(project_id, String(call_id))).toEqual(begun), WAIT_MAX)
  return String(call_id)
}

async function statusOf(project_id: string, call_id: string): Promise<unknown> {
  return (await replyOf(await anna.post('/evaluations/status', { project_id, call_id })))['status']
}

describe('an evaluation that runs', () => {
  it.each([
    {
      name: 'ben',
      what: 'its key is revoked',
      end: (_: string, keyId: string, client: KeyClient) => client.delete(`/v1/accounts/keys/${keyId}`),
    },
    {
      name: 'carl',
      what: 'its user is removed from the team',
      end: (name: string) => anna.delete(`/v1/accounts/teams/red/members/${name}`),
    },
    {
      name: 'dora',
      what: 'its user is disabled',
      end: async (name: string) =>
        (await accounts.operator()).put(`/v1/accounts/users/${name}`, { disabled: true }),
    },
  ])('asks its model no more and fails with the reason once $what', async ({ name, end }) => {
    const project = `red/${name}`
    const { keyId, client } = await newMember(name)
    const [asked, aborted] = [provider.requests.length, provider.aborted()]
    const call_id = await beginIn(project, client)
    expect((await end(name, keyId, client)).status).toBe(200)
    await vi.waitFor(async () => {
      expect(await statusOf(project, call_id)).toEqual({
        code: 'failed',
        error: `${name} may no longer change ${project}, or the key may not`,
      })
    }, WAIT_MAX)
    const ended = provider.requests.length - asked - 1
    await vi.waitFor(() => expect(provider.aborted() - aborted).toBe(ended), WAIT_MAX)
    expect(ended).toBeLessThan(39)
  })
})
