import { describe, expect, it, vi } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall } from '../../trace/test-calls.ts'
import { tablesWith } from '../test-traces-of.ts'
import type { Erasure } from './wire.ts'

/** The database removes files of parts that were replaced up to 30 s later. */
const GONE_MS_MAX = 900_000
vi.setConfig({ testTimeout: GONE_MS_MAX })

const server = useTestServer({ auth: 'keys' })

interface User {
  send(method: string, path: string, body?: unknown): Promise<Response>
}

function as(headers: Record<string, string>): User {
  return {
    send: (method, path, body) =>
      server.request(path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  }
}

/** Signs in by a link, and makes a key. */
async function signedIn(link: string): Promise<User> {
  const body = JSON.stringify({ token: link.split('#')[1] })
  const response = await server.request('/v1/accounts/session', {
    method: 'POST',
    headers: { authorization: '' },
    body,
  })
  const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
  const page = as({ authorization: '', cookie, 'x-heddle-page': '1' })
  const made = await replyOf(await page.send('POST', '/v1/accounts/keys', { name: 'key' }))
  return as({ authorization: `Bearer ${String(made['key'])}` })
}

async function newUser(operator: User, name: string): Promise<User> {
  const made = await replyOf(
    await operator.send('POST', '/v1/accounts/users', { name, email: `${name}@mail.test` }),
  )
  return signedIn(String(made['sign_in_url']))
}

/** What a sign-in through a provider leaves of a user. */
async function signInThroughProvider(name: string): Promise<void> {
  const { control } = server.stores
  const user = await server.accounts.identity.userNamed(name)
  const [issuer, subject, created_at] = ['https://id.test', `${name}-there`, user.created_at]
  await control
    .insertInto('user_identities')
    .values({ issuer, subject, user_id: user.id, created_at })
    .execute()
  const details = JSON.stringify({ identity: `${issuer} ${subject}` })
  const event = { id: user.id, at: created_at, key_id: 'single_sign_on', action: 'user.link', entity: null }
  await control
    .insertInto('audit_events')
    .values({ ...event, actor: name, subject: name, details })
    .execute()
}

async function untilDone(operator: User, id: string): Promise<Erasure> {
  return vi.waitFor(
    async () => {
      const erasure = await replyOf<Erasure>(await operator.send('GET', `/v1/accounts/erasures/${id}`))
      expect(erasure.state).toBe('done')
      return erasure
    },
    { timeout: GONE_MS_MAX, interval: 500 },
  )
}

describe('DELETE /v1/accounts/users/{user} and /v1/accounts/teams/{entity}, GET /v1/accounts/erasures and /v1/accounts/erasures/{id}', () => {
  it('200: what the user wrote and the account go, others keep theirs; then the team goes', async () => {
    const { traces, control } = server.stores
    const operator = await signedIn((await server.accounts.sessions.firstSignIn()) ?? '')
    const [leaving, staying] = [await newUser(operator, 'leaving'), await newUser(operator, 'staying')]
    await replyOf(await operator.send('POST', '/v1/accounts/teams', { name: 'crew', admin: 'staying' }))
    await replyOf(await staying.send('PUT', '/v1/accounts/teams/crew/members/leaving', { role: 'member' }))
    const project_id = 'crew/shared'
    const write = async (user: User, text: string) => {
      const batch = [finishedCall({ inputs: { text }, output: text })]
      await replyOf(await user.send('POST', `/v2/${project_id}/calls/complete`, { batch }))
      const obj = { project_id, object_id: `of-${text.length}`, val: { text } }
      await replyOf(await user.send('POST', '/obj/create', { obj }))
      const weave_ref = `weave:///${project_id}/call/${String(batch[0]?.id)}`
      const feedback = { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: text } }
      await replyOf(await user.send('POST', '/feedback/create', feedback))
    }
    await write(leaving, 'goingtext')
    await write(staying, 'stayingtext')
    await replyOf(
      await leaving.send('POST', '/v2/leaving/own/calls/complete', {
        batch: [finishedCall({ output: 'goingtext' })],
      }),
    )

    // A client sends a table before the call that names it.
    await replyOf(
      await staying.send('POST', '/table/create', { table: { project_id, rows: [{ text: 'unnamedyet' }] } }),
    )

    await signInThroughProvider('leaving')
    expect((await staying.send('DELETE', '/v1/accounts/users/leaving?data=true')).status).toBe(403)
    expect((await staying.send('DELETE', '/v2/leaving/own')).status).toBe(403)
    const receipt = await replyOf<Erasure>(
      await operator.send('DELETE', '/v1/accounts/users/leaving?data=true'),
    )
    expect((await leaving.send('GET', '/v1/accounts/me')).status).toBe(401)
    const done = await untilDone(operator, receipt.id)
    expect(done.subject).toMatch(/^deleted-user-/)
    expect(done.amounts.find(({ kind }) => kind === 'calls')?.count).toBe(2)
    expect(await tablesWith(traces, 'goingtext')).toEqual([])
    expect(await tablesWith(traces, 'leaving')).toEqual([])
    expect(await tablesWith(traces, 'stayingtext')).toEqual(
      expect.arrayContaining(['calls', 'feedback', 'objects']),
    )
    expect(await tablesWith(traces, 'unnamedyet')).toEqual(['table_rows'])
    const audit = JSON.stringify(await control.selectFrom('audit_events').selectAll().execute())
    expect(audit).not.toContain('leaving')
    expect(audit).toContain(done.subject)
    expect(await control.selectFrom('user_identities').selectAll().execute()).toEqual([])
    expect(
      (await control.selectFrom('users').select('name').execute()).map(({ name }) => name),
    ).not.toContain('leaving')

    const last = await operator.send('DELETE', '/v1/accounts/users/staying')
    expect(last.status).toBe(409)
    const ofTeam = await replyOf<Erasure>(await staying.send('DELETE', '/v1/accounts/teams/crew'))
    const gone = await untilDone(operator, ofTeam.id)
    expect(gone).toMatchObject({ kind: 'entity', subject: 'crew', requested_by: 'staying' })
    expect(await tablesWith(traces, 'stayingtext')).toEqual([])
    const teams = await replyOf<{ data: Fields[] }>(await operator.send('GET', '/v1/accounts/teams'))
    expect(teams.data.map(({ name }) => name)).not.toContain('crew')
    const own = await replyOf<{ data: Fields[] }>(await staying.send('GET', '/v1/accounts/erasures'))
    expect(own.data.map(({ id }) => id)).toEqual([ofTeam.id])
  })
})
