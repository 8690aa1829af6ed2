import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { newId } from '../ids.ts'
import { openFakeProvider } from '../inference/playground/fake-provider.ts'
import { openFakeCompute } from '../stores/compute/fake-compute.ts'
import { rowsOf } from '../stores/trace-db/port.ts'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { eventually } from '../test-eventually.ts'
import { filesWith } from '../test-files.ts'
import { type Fields, replyOf, useTestServer } from '../testing.ts'
import { requestOf, spanOf } from '../trace/otlp/test-spans.ts'
import { finishedCall } from '../trace/test-calls.ts'
import type { Rule } from './wire.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

let folder = ''
const server = useTestServer({
  compute: (path) => {
    folder = path
    return openFakeCompute(path)
  },
  inference: { traceCompletions: true },
  providers: new Map([['openai', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
  recentCallsBytes: 1024 * 1024,
})

const RULES: Rule[] = [
  { name: 'passwords', match: 'key', keys: ['password'], action: 'drop' },
  { name: 'mails', match: 'builtin', builtin: 'email', action: 'mask' },
  { name: 'codes', match: 'pattern', pattern: 'code-[a-z0-9]+', action: 'hash' },
]

/** A text with the secret as an address and as a code, and a value with it in several places. */
const textWith = (secret: string) => `mail ${secret}@x.org about code-${secret}`
const valueWith = (secret: string): Fields => ({
  password: { is: secret },
  texts: [textWith(secret), { nested: JSON.stringify({ password: secret, text: textWith(secret) }) }],
})

interface Sent {
  project: string
  model: string
  text: string
  value: Fields
}

const post = async (path: string, body: unknown): Promise<Fields> => replyOf(await server.post(path, body))

function form(project: string, content: string): Promise<Response> {
  const body = new FormData()
  body.set('project_id', project)
  body.set('file', new Blob([content]), 'notes.txt')
  return server.request('/file/create', { method: 'POST', body })
}

const start = ({ project, text, value }: Sent, id: string) => ({
  project_id: project,
  id,
  trace_id: newId(),
  op_name: 'op',
  display_name: text,
  thread_id: text,
  started_at: '2026-01-01T00:00:00Z',
  attributes: value,
  inputs: value,
})
const end = ({ project, text, value }: Sent, id: string) => ({
  project_id: project,
  id,
  ended_at: '2026-01-01T00:00:01Z',
  output: text,
  summary: value,
  exception: text,
})

/** Every way in which data of users comes to be stored as calls or beside them. */
const PATHS: Record<string, (sent: Sent) => Promise<unknown>> = {
  async 'calls in parts'(sent) {
    const id = newId()
    await post('/call/start', { start: start(sent, id) })
    await post('/call/end', { end: end(sent, id) })
    await post('/call/update', { project_id: sent.project, call_id: id, display_name: sent.text })
  },
  async 'calls in parts, below /v2'(sent) {
    const id = newId()
    await post(`/v2/${sent.project}/call/start`, { start: start(sent, id) })
    await post(`/v2/${sent.project}/call/end`, { end: end(sent, id) })
  },
  async 'a batch of parts'(sent) {
    const id = newId()
    const parts = [
      { mode: 'start', req: { start: start(sent, id) } },
      { mode: 'end', req: { end: end(sent, id) } },
    ]
    await post('/call/upsert_batch', { batch: parts })
  },
  async 'whole calls'({ project, text, value }) {
    const long = { ...value, long: `${'x '.repeat(100_000)}${text}` }
    const call = finishedCall({
      op_name: text,
      inputs: long,
      output: [value],
      attributes: value,
      otel_dump: value,
    })
    await post(`/v2/${project}/calls/complete`, { batch: [call] })
  },
  async 'spans of OpenTelemetry'({ project, text }) {
    const attributes = { 'gen_ai.prompt': text, 'http.password': text, 'input.value': text }
    const body = requestOf([spanOf({ name: text, attributes, status: { code: 2, message: text } })], {
      host: text,
    })
    const headers = { 'content-type': 'application/json', project_id: project }
    await replyOf(
      await server.request('/otel/v1/traces', { method: 'POST', headers, body: JSON.stringify(body) }),
    )
  },
  async 'completions of the gateway'({ project, text }) {
    const body = JSON.stringify({ messages: [{ role: 'user', content: text }] })
    const headers = { 'openai-project': project }
    await replyOf(await server.request('/v1/chat/completions', { method: 'POST', headers, body }))
    await eventually(async () => {
      const calls = await server.post('/calls/query_stats', { project_id: project })
      const { count } = await replyOf<{ count: number }>(calls)
      expect(count).toBeGreaterThan(0)
    })
  },
  async 'completions of the playground'({ project, text }) {
    const messages = [{ role: 'user', content: `say ${text}` }]
    const body = { project_id: project, inputs: { model: 'gpt-4o-mini', messages } }
    await post('/completions/create', body)
    await (await server.post('/completions/create_stream', body)).text()
  },
  async 'logged trajectories'({ model, text }) {
    const choice = { finish_reason: 'stop', index: 0, message: { role: 'assistant', content: text } }
    const trajectory = { messages_and_choices: [{ role: 'user', content: text }, choice], reward: 1 }
    const body = { model_id: model, split: 'val', trajectory_groups: [{ trajectories: [trajectory] }] }
    expect((await post(`/v1/preview/models/${model}/log`, body))['num_calls']).toBe(1)
  },
  async 'evaluation runs'({ project, text, value }) {
    const ref = (name: string) => `weave:///${project}/object/${name}:abc`
    const run = { evaluation: ref('evaluation'), model: ref('model') }
    const { evaluation_run_id } = await post(`/v2/${project}/evaluation_runs`, run)
    const prediction = { model: ref('model'), inputs: value, output: text, evaluation_run_id }
    const { prediction_id } = await post(`/v2/${project}/predictions`, prediction)
    await post(`/v2/${project}/scores`, { prediction_id, scorer: ref('scorer'), value: 1, evaluation_run_id })
    await post(`/v2/${project}/predictions/${prediction_id}/finish`, {})
    await post(`/v2/${project}/evaluation_runs/${evaluation_run_id}/finish`, { summary: value })
  },
  async feedback({ project, text, value }) {
    const feedback = {
      project_id: project,
      weave_ref: `weave:///${project}/call/${newId()}`,
      creator: text,
      feedback_type: 'custom',
      payload: value,
      scorer_tag_reasons: { tag: text },
      scorer_rating_reasons: { rating: text },
    }
    const { id } = await post('/feedback/create', feedback)
    await post('/feedback/batch/create', { batch: [feedback] })
    await post('/feedback/replace', { ...feedback, feedback_id: id })
  },
  async objects({ project, text, value }) {
    await post('/obj/create', { obj: { project_id: project, object_id: 'o', val: value } })
    await post(`/v2/${project}/datasets`, { name: 'd', description: text, rows: [value] })
    await post(`/v2/${project}/ops`, { name: 'f', source_code: `def f():\n    return "${text}"\n` })
  },
  async tables({ project, value }) {
    const { digest } = await post('/table/create', { table: { project_id: project, rows: [value] } })
    const updates = [{ append: { row: { ...value, more: 1 } } }]
    await post('/table/update', { project_id: project, base_digest: digest, updates })
  },
  async files({ project, text, value }) {
    await replyOf(await form(project, text))
    await replyOf(await form(project, JSON.stringify(value, null, 2)))
  },
}

async function newModel(project: string): Promise<string> {
  const [entity, name] = project.split('/')
  const body = { entity, project: name, name: randomUUID(), base_model: TEST_BASE_MODEL }
  return String((await post('/v1/preview/models', body))['id'])
}

/** Sends a secret by one path, to a project of its own. */
async function sendBy(path: string, secret: string, rules: readonly Rule[]): Promise<string> {
  const project = `local/${randomUUID()}`
  const put = { method: 'PUT', body: JSON.stringify({ rules }) }
  await replyOf(await server.request(`/v2/${project}/redaction`, put))
  const sent = { project, model: await newModel(project), text: textWith(secret), value: valueWith(secret) }
  await PATHS[path]?.(sent)
  return project
}

/**
 * Tables of the trace database with the secret in any column; what it has compressed is found by no search of files.
 */
async function tablesWith(secret: string): Promise<string[]> {
  const tables =
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
  const found: string[] = []
  for (const { name } of await rowsOf(
    server.stores.traces.query<{ name: string }>({ sql: tables, params: {} }),
  )) {
    const sql = `SELECT count() AS count FROM ${name} WHERE position(formatRow('JSONEachRow', *), {secret:String}) > 0`
    const [row] = await rowsOf(server.stores.traces.query<{ count: number }>({ sql, params: { secret } }))
    if (Number(row?.count) > 0) found.push(name)
  }
  return found
}

describe.each(Object.keys(PATHS))('%s', (path) => {
  const secret = randomUUID().replaceAll('-', '')

  it('200 with rules: nothing of the secret is in the database, in a file or in a reply', async () => {
    const project_id = await sendBy(path, secret, RULES)
    expect(await tablesWith(secret)).toEqual([])
    expect(await filesWith(folder, secret)).toEqual([])
    const calls = await server.post('/calls/stream_query', { project_id, include_feedback: true })
    expect(await calls.text()).not.toContain(secret)
  })

  it('200 without rules: the secret is found', async () => {
    await sendBy(path, secret, [])
    expect([...(await tablesWith(secret)), ...(await filesWith(folder, secret))]).not.toEqual([])
  })
})

describe('redaction', () => {
  it('413 where patterns take too long, and nothing is stored', async () => {
    const project = `local/${randomUUID()}`
    const rules: Rule[] = [{ name: 'slow', match: 'pattern', pattern: 'a.*b|a', action: 'mask' }]
    const put = { method: 'PUT', body: JSON.stringify({ rules }) }
    await replyOf(await server.request(`/v2/${project}/redaction`, put))
    const batch = [finishedCall({ inputs: { text: 'a'.repeat(200_000) } })]
    expect((await server.post(`/v2/${project}/calls/complete`, { batch })).status).toBe(413)
    const stats = await server.post('/calls/query_stats', { project_id: project })
    expect(await replyOf(stats)).toMatchObject({ count: 0 })
  })
})
