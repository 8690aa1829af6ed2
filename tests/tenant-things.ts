/** What one tenant of a test has, and requests of the API about it. */
import type { Schema } from '@cfworker/json-schema'
import { expect } from 'vitest'
import type { KeyClient } from '../src/accounts/test-accounts.ts'
import { routesWithoutStores } from '../src/app-without-stores.ts'
import type { Route } from '../src/http/route.ts'
import { TEST_BASE_MODEL } from '../src/test-app.ts'
import { eventually } from '../src/test-eventually.ts'
import type { Fields, TestServer } from '../src/testing.ts'
import { createTestClient } from '../src/tracking/test-client.ts'
import { group } from '../src/training/test-group.ts'
import { type Named, type operations, plainValue, resolved } from './openapi-examples.ts'

/** Of the API, by their operation ids. */
export const routes = new Map(routesWithoutStores().map((route) => [route.operationId, route]))

/** Who owns the things, where they belong, and the text that is in all of them. */
export interface Tenant {
  owner: KeyClient
  user: string
  entity: string
  project: string
  text: string
}

export async function ok<Reply = Fields>(sent: Promise<Response>): Promise<Reply> {
  const response = await sent
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Reply
}

/** Makes one thing of every kind, and returns their names by the properties that hold them. */
export async function makeThings(server: TestServer, tenant: Tenant): Promise<Named> {
  const { owner, user, entity, project, text } = tenant
  const project_id = `${entity}/${project}`
  const at = '2026-01-01T00:00:00Z'
  const call = { project_id, op_name: text, started_at: at, attributes: {}, inputs: { text } }
  const started = await ok<{ id: string; trace_id: string }>(owner.post('/call/start', { start: call }))
  const end = { project_id, id: started.id, ended_at: at, output: text, summary: {} }
  await ok(owner.post('/call/end', { end }))
  const obj = { project_id, object_id: 'thing', val: { text } }
  const { digest } = await ok(owner.post('/obj/create', { obj }))
  const table = await ok(owner.post('/table/create', { table: { project_id, rows: [{ text }] } }))
  const form = new FormData()
  form.set('project_id', project_id)
  form.set('file', new Blob([text]), 'file.txt')
  const file = await ok(
    server.request('/file/create', {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body: form,
    }),
  )
  const weave_ref = `weave:///${project_id}/call/${started.id}`
  const note = { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: text } }
  const feedback = await ok(owner.post('/feedback/create', note))
  const queue = await ok(
    owner.post('/annotation_queues', { project_id, name: text, description: '', scorer_refs: [] }),
  )
  const queue_id = String(queue['id'])
  const added = { project_id, call_ids: [started.id], display_fields: [] }
  await ok(owner.post(`/annotation_queues/${queue_id}/items`, added))
  const items = await ok<{ items: { id: string }[] }>(
    owner.post(`/annotation_queues/${queue_id}/items/query`, { project_id }),
  )
  const run = await ok(
    owner.post(`/v2/${project_id}/evaluation_runs`, {
      evaluation: `weave:///${project_id}/object/thing:${digest}`,
      model: text,
    }),
  )
  const model = await ok(
    owner.post('/v1/preview/models', {
      entity,
      project,
      name: 'model',
      base_model: TEST_BASE_MODEL,
    }),
  )
  const job = await ok(
    owner.post('/v1/preview/training-jobs', { model_id: model['id'], trajectory_groups: [group()] }),
  )
  await eventually(async () =>
    expect(await ok(owner.get(`/v1/preview/training-jobs/${job['id']}`))).toMatchObject({
      state: 'succeeded',
    }),
  )
  const line = JSON.stringify({
    messages: [
      { role: 'user', content: text },
      { role: 'assistant', content: 'x' },
    ],
  })
  const data = await ok(owner.send('POST', '/v1/preview/training-data', { body: line }))
  const artifact = await logArtifact(server, tenant)
  const model_ref = `wandb-artifact:///${project_id}/model`
  return {
    project_id,
    entity,
    project,
    entity_name: entity,
    project_name: project,
    call_id: started.id,
    id: started.id,
    call_ids: [started.id],
    trace_id: started.trace_id,
    parent_ids: [started.id],
    object_id: 'thing',
    digest,
    row_digests: [digest],
    base_digest: table['digest'],
    digests: [table['digest']],
    ref: `weave:///${project_id}/object/thing:${digest}`,
    refs: [`weave:///${project_id}/object/thing:${digest}`],
    weave_ref,
    evaluation_ref: `weave:///${project_id}/object/thing:${digest}`,
    scorer_refs: [`weave:///${project_id}/object/thing:${digest}`],
    file_digest: file['digest'],
    feedback_id: feedback['id'],
    queue_id,
    item_id: items.items[0]?.id,
    evaluation_run_id: run['evaluation_run_id'],
    evaluation_call_ids: [run['evaluation_run_id']],
    prediction_id: started.id,
    score_id: started.id,
    model_id: model['id'],
    from_model: model['id'],
    checkpoint: 'latest',
    model: model_ref,
    training_job_id: job['id'],
    training_data_id: data['id'],
    training_data_url: data['training_data_url'],
    artifact_id: artifact,
    birth_artifact_id: artifact,
    md5_hex: '0'.repeat(32),
    run: 'run',
    run_id: 'run',
    user,
    evaluation_run_ids: [run['evaluation_run_id']],
    prediction_ids: [started.id],
    score_ids: [started.id],
    // Values without which some requests would be malformed.
    name: 'name',
    prompt: 'text',
    claims: { sub: 'subject' },
    base_url: 'https://models.example/v1',
    tags: ['tag'],
    aliases: ['alias'],
    updates: [{ append: { row: {} } }],
    query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'none' }] } },
    from: { calls: {} },
    into: { dataset: { name: 'collected' } },
  }
}

async function logArtifact(server: TestServer, { owner, entity, project, text }: Tenant): Promise<string> {
  const client = createTestClient(server, owner.key)
  const id = await client.log({
    entity,
    project,
    name: 'dataset',
    files: { 'data.txt': text },
  })
  return Buffer.from(id, 'base64').toString().split(':')[1] ?? ''
}

export type Operation = (typeof operations)[number]

/** Sends an operation about the named things. */
export async function send(client: KeyClient, operation: Operation, names: Named) {
  const { path, headers, body } = requestOf(operation, names)
  const response = await client.send(operation.method, path, { headers, ...(body !== undefined && { body }) })
  return { status: response.status, text: await response.text() }
}

/** Equal for requests of an operation that are the same. */
export function requestText(operation: Operation, names: Named): string {
  const { path, headers, body } = requestOf(operation, names)
  return JSON.stringify([path, headers, body instanceof FormData ? [...body] : body])
}

function requestOf(operation: Operation, names: Named) {
  const { method, path, parameters, requestBody, operationId } = operation
  const filled = path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) =>
    encodeURIComponent(String(names[name] ?? 'none')),
  )
  const query = new URLSearchParams(
    parameters
      .filter(({ name, in: place }) => place === 'query' && Object.hasOwn(names, name))
      .map(({ name }): [string, string] => [name, String(names[name])]),
  )
  const [body] = Object.entries(requestBody?.content ?? {})
  const hasBody = body !== undefined && method !== 'GET'
  return {
    path: `${filled}${query.size > 0 ? `?${query}` : ''}`,
    headers: { project_id: String(names['project_id']), 'openai-project': String(names['project_id']) },
    body: hasBody ? bodyOf(body, names, routes.get(operationId)) : undefined,
  }
}

function bodyOf(
  [type, { schema }]: [string, { schema: Schema }],
  names: Named,
  route: Route | undefined,
): unknown {
  const value = plainValue(schema, names)
  if (type === 'multipart/form-data') {
    const form = new FormData()
    for (const [name, part] of Object.entries(value as object)) form.set(name, String(part))
    form.set('file', new Blob(['x']), 'x')
    return form
  }
  if (route?.bodyKind === 'bytes') return OTLP
  return typeof value === 'string' ? value : JSON.stringify(withProject(value, schema, names))
}

/** OpenTelemetry's own format, with one span. */
const OTLP = JSON.stringify({
  resourceSpans: [
    {
      resource: {},
      scopeSpans: [
        {
          spans: [
            {
              traceId: '1'.repeat(32),
              spanId: '1'.repeat(16),
              name: 'x',
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
            },
          ],
        },
      ],
    },
  ],
})

/** Batches name their project deep inside alternatives of which the plainest is chosen. */
function withProject(value: unknown, schema: Schema, names: Named): unknown {
  const properties = Object.keys(resolved(schema).properties ?? {})
  if (properties.includes('batch') && JSON.stringify(value).includes('"mode"'))
    return {
      batch: [
        {
          mode: 'end',
          req: {
            end: {
              project_id: names['project_id'],
              id: names['call_id'],
              ended_at: '2026-01-01',
              summary: {},
            },
          },
        },
      ],
    }
  return value
}
