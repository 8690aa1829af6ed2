import { createServer, type IncomingHttpHeaders } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { callsIn, feedbackIn, publishing } from '../test-objects.ts'

interface Seen {
  url: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

type Answer = readonly [status: number, body: unknown, headers?: Record<string, string>]

/** The endpoint's replies in order; the last one repeats. */
let answers: Answer[] = []
const seen: Seen[] = []

const endpoint = createServer(async (request, response) => {
  seen.push({ url: request.url, headers: request.headers, body: await text(request) })
  const [status, body, headers] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, '']
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
})
await new Promise<void>((listening) => endpoint.listen(0, '127.0.0.1', listening))
const address = endpoint.address()
const port = typeof address === 'object' ? address?.port : 0
const url = `http://127.0.0.1:${port}/score`
afterAll(() => {
  endpoint.closeAllConnections()
  endpoint.close()
})
beforeEach(() => {
  answers = [[200, { schema_version: 1, result: { value: 0.5, reason: 'so so', confidence: 1 } }]]
  seen.length = 0
})

const server = useTestServer({
  remoteScorers: {
    hosts: [`127.0.0.1:${port}`],
    secrets: {
      TOKEN: { value: 'secret-token', hosts: ['127.0.0.1'] },
      ELSEWHERE: { value: 'secret-elsewhere', hosts: ['scoring.example.com'] },
    },
  },
})
const objects = publishing(server)

async function scored(fields: Fields): Promise<{ project: string; id: string; ref: string }> {
  const project = server.newProject()
  const ref = await objects.scorer(project, 'RemoteScorer', { name: 'far', endpoint_url: url, ...fields })
  const [id, trace_id] = [newId(), newId()]
  const times = { started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:00:01Z' }
  const call = { id, trace_id, op_name: 'answer', ...times, attributes: {}, summary: {} }
  const batch = [{ ...call, inputs: { question: 'why?' }, output: 'because' }]
  await replyOf(await server.post(`/v2/${project}/calls/complete`, { batch }))
  const request = { project_id: project, call_ids: [id], scorer_refs: [ref] }
  await replyOf(await server.post('/calls/score', request))
  return { project, id, ref }
}

/** The call of the scoring, once it has ended. */
function scoringIn(project: string): Promise<Fields> {
  return vi.waitFor(
    async () => {
      const calls = await callsIn(server, project)
      const scoring = calls.find(({ op_name }) => String(op_name).includes('RemoteScorer'))
      expect(scoring).toBeDefined()
      return scoring ?? {}
    },
    { timeout: 60_000 },
  )
}

describe('a RemoteScorer', () => {
  it('gets the call, and its answer becomes feedback with a rating', async () => {
    const auth_config = { mode: 'static_bearer', bearer_secret_name: 'TOKEN' }
    const { project, id, ref } = await scored({ config: { threshold: 0.8 }, auth_config })
    const scoring = await scoringIn(project)
    expect(scoring).toMatchObject({ exception: null, output: { value: 0.5 } })
    expect(seen).toHaveLength(1)
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-token',
      'x-weave-schema-version': '1',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      schema_version: 1,
      original_call: { project_id: project, call_id: id, inputs: { question: 'why?' }, output: 'because' },
      scoring_call_id: scoring['id'],
      scorer: { name: 'far', ref, config: { threshold: 0.8 } },
    })
    const feedback = await vi.waitFor(
      async () => {
        const [first] = await feedbackIn(server, project)
        expect(first).toBeDefined()
        return first
      },
      { timeout: 60_000 },
    )
    expect(feedback).toMatchObject({ runnable_ref: ref, payload: { output: { value: 0.5 } } })
    const rows = await server.stores.traces.query<Fields>({
      sql: 'SELECT scorer_ratings FROM feedback WHERE project_id = {project:String}',
      params: { project },
    })
    for await (const row of rows) expect(row).toEqual({ scorer_ratings: { far: 0.5 } })
  })

  it('is requested again after 503 and 429, with the same idempotency key', async () => {
    answers = [
      [503, ''],
      [429, ''],
      [200, { schema_version: 1, result: { value: 'fine' } }],
    ]
    const { project } = await scored({})
    expect(await scoringIn(project)).toMatchObject({ exception: null, output: { value: 'fine' } })
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(seen).toHaveLength(3)
  })

  it.each([
    ['a refusal', [[422, 'no']], 'status 422'],
    ['a redirect', [[307, '', { location: 'http://169.254.169.254/' }]], 'status 307'],
    ['another version', [[200, { schema_version: 2, result: 1 }]], 'schema_version 2'],
    ['no result', [[200, { schema_version: 1 }]], 'result'],
    ['no JSON', [[200, '<html>']], 'The reply of'],
    [
      'a deep reply',
      [[200, `{"schema_version":1,"result":${'['.repeat(5_000)}${']'.repeat(5_000)}}`]],
      'more than 1000 levels',
    ],
  ] as [string, Answer[], string][])(
    'says %s in its call, without feedback',
    async (_what, given, message) => {
      answers = given
      const { project } = await scored({})
      expect((await scoringIn(project))['exception']).toContain(message)
      expect(await feedbackIn(server, project)).toEqual([])
      expect(seen).toHaveLength(1)
    },
  )

  it.each([
    ['a loopback address', 'http://127.0.0.2:1/', 'HEDDLE_SCORER_HOSTS'],
    ['a loopback address written as IPv6', 'http://[::ffff:127.0.0.1]:1/', 'HEDDLE_SCORER_HOSTS'],
    ['a number that is one', `http://2130706434:${port}/`, 'HEDDLE_SCORER_HOSTS'],
    ['a private network', 'http://10.0.0.1/', 'HEDDLE_SCORER_HOSTS'],
    ['the metadata of a cloud', 'http://169.254.169.254/latest', 'HEDDLE_SCORER_HOSTS'],
    ['a name that resolves to this machine', `http://localhost:${port}/`, 'HEDDLE_SCORER_HOSTS'],
    ['a file', 'file:///etc/passwd', 'http'],
  ])('is not asked at %s', async (_what, endpoint_url, message) => {
    const { project } = await scored({ endpoint_url })
    expect((await scoringIn(project))['exception']).toContain(message)
    expect(seen).toEqual([])
  })

  it('gets no secret that is for another host, or unknown', async () => {
    const project = server.newProject()
    for (const [bearer_secret_name, message] of [
      ['ELSEWHERE', 'is not for 127.0.0.1'],
      ['NOTHING', 'No secret NOTHING'],
    ]) {
      const auth_config = { mode: 'static_bearer', bearer_secret_name }
      const ref = await objects.scorer(project, 'RemoteScorer', { endpoint_url: url, auth_config })
      const request = { project_id: project, call_ids: [newId()], scorer_refs: [ref] }
      const refused = await server.post('/calls/score', request)
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(message ?? '')])
    }
  })

  it('gets no token for a secret that is for the token endpoint alone', async () => {
    const project = server.newProject()
    const auth_config = {
      mode: 'oauth_client_credentials',
      token_endpoint_url: 'https://scoring.example.com/token',
      client_id: 'us',
      client_secret_name: 'ELSEWHERE',
    }
    const ref = await objects.scorer(project, 'RemoteScorer', { endpoint_url: url, auth_config })
    const request = { project_id: project, call_ids: [newId()], scorer_refs: [ref] }
    const refused = await server.post('/calls/score', request)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('is not for 127.0.0.1'),
    ])
  })

  it('is not repeated with the secret that it was sent', async () => {
    answers = [[200, { schema_version: 1, result: { value: 'fine', reason: 'Bearer secret-token' } }]]
    const auth_config = { mode: 'static_bearer', bearer_secret_name: 'TOKEN' }
    const { project } = await scored({ auth_config })
    expect(await scoringIn(project)).toMatchObject({ output: { reason: 'Bearer [key]' } })
  })

  it('is sent a new token where it refuses one that was revoked, and asked twice at most', async () => {
    const result = [200, { schema_version: 1, result: { value: 'fine' } }] as const
    const token = (access_token: string) => [200, { access_token, expires_in: 3600 }] as const
    const auth_config = {
      mode: 'oauth_client_credentials',
      token_endpoint_url: `http://127.0.0.1:${port}/token`,
      client_id: 'those whose token is revoked',
      client_secret_name: 'TOKEN',
    }
    answers = [
      token('first'),
      result,
      [401, ''],
      token('second'),
      result,
      [401, ''],
      token('third'),
      [401, ''],
    ]
    await scoringIn((await scored({ auth_config })).project)
    expect(await scoringIn((await scored({ auth_config })).project)).toMatchObject({ exception: null })
    expect((await scoringIn((await scored({ auth_config })).project))['exception']).toContain('status 401')
    const scoring = seen.filter(({ url: path }) => path === '/score')
    expect(scoring.map(({ headers }) => headers.authorization)).toEqual(
      ['first', 'first', 'second', 'second', 'third'].map((name) => `Bearer ${name}`),
    )
  })

  it('is sent a token that its client credentials are exchanged for', async () => {
    answers = [
      [200, { access_token: 'fresh', expires_in: 3600 }],
      [200, { schema_version: 1, result: { value: 'fine' } }],
    ]
    const auth_config = {
      mode: 'oauth_client_credentials',
      token_endpoint_url: `http://127.0.0.1:${port}/token`,
      client_id: 'us',
      client_secret_name: 'TOKEN',
      scope: 'score',
    }
    await scoringIn((await scored({ auth_config })).project)
    await scoringIn((await scored({ auth_config })).project)
    expect(seen.map(({ url: path }) => path)).toEqual(['/token', '/score', '/score'])
    expect(seen[0]?.body).toBe('grant_type=client_credentials&scope=score')
    expect(seen[2]?.headers.authorization).toBe('Bearer fresh')
  })
})
