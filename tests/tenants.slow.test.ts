/**
 * Every operation of the API, with what belongs to one tenant, in the name of another: nothing is read, changed or
 * revealed. An operation that is added later takes part by itself.
 */
import { randomUUID } from 'node:crypto'
import type { Schema } from '@cfworker/json-schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../src/accounts/test-accounts.ts'
import { routesWithoutStores } from '../src/app-without-stores.ts'
import { eventually } from '../src/eventually.ts'
import type { Route } from '../src/http/route.ts'
import { openFakeCompute } from '../src/stores/compute/fake-compute.ts'
import { TEST_BASE_MODEL } from '../src/test-app.ts'
import { type Fields, useTestServer } from '../src/testing.ts'
import { createTestClient } from '../src/tracking/test-client.ts'
import { group } from '../src/training/test-group.ts'
import { type Named, operations, plainValue, resolved } from './openapi-examples.ts'

/** In every text that the tenant writes. */
const MARKER = 'marked-as-of-the-tenant'

const ENTITY = 'weavers'
const PROJECT = 'loom'
const PROJECT_ID = `${ENTITY}/${PROJECT}`

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)
const routes = new Map(routesWithoutStores().map((route) => [route.operationId, route]))

let admin: KeyClient
let member: KeyClient
let viewer: KeyClient
let stranger: KeyClient
let named: Named

/** The same names, of things that are not there, in an entity that is not there. */
let missing: Named

beforeAll(async () => {
  const operator = await accounts.operator()
  ;[admin, member, viewer, stranger] = (await Promise.all(
    ['anna', 'mona', 'vera', 'sten'].map((name) => accounts.newUser(name)),
  )) as [KeyClient, KeyClient, KeyClient, KeyClient]
  await ok(operator.post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' }))
  await ok(admin.put(`/v1/accounts/teams/${ENTITY}/members/mona`, { role: 'member' }))
  await ok(admin.put(`/v1/accounts/teams/${ENTITY}/members/vera`, { role: 'viewer' }))
  named = await fill(admin)
  const other: [string, unknown][] = Object.entries(named).map(([name, value]) => [name, missingFor(value)])
  missing = Object.fromEntries(other)
}, 120_000)

async function ok<Reply = Fields>(sent: Promise<Response>): Promise<Reply> {
  const response = await sent
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return JSON.parse(text) as Reply
}

/** Makes one thing of every kind, and returns their names by the properties that hold them. */
async function fill(owner: KeyClient): Promise<Named> {
  const project_id = PROJECT_ID
  const at = '2026-01-01T00:00:00Z'
  const call = { project_id, op_name: MARKER, started_at: at, attributes: {}, inputs: { text: MARKER } }
  const started = await ok<{ id: string; trace_id: string }>(owner.post('/call/start', { start: call }))
  const end = { project_id, id: started.id, ended_at: at, output: MARKER, summary: {} }
  await ok(owner.post('/call/end', { end }))
  const obj = { project_id, object_id: 'thing', val: { text: MARKER } }
  const { digest } = await ok(owner.post('/obj/create', { obj }))
  const table = await ok(owner.post('/table/create', { table: { project_id, rows: [{ text: MARKER }] } }))
  const form = new FormData()
  form.set('project_id', project_id)
  form.set('file', new Blob([MARKER]), 'file.txt')
  const file = await ok(
    server.request('/file/create', {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body: form,
    }),
  )
  const weave_ref = `weave:///${project_id}/call/${started.id}`
  const note = { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: MARKER } }
  const feedback = await ok(owner.post('/feedback/create', note))
  const queue = await ok(
    owner.post('/annotation_queues', { project_id, name: MARKER, description: '', scorer_refs: [] }),
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
      model: MARKER,
    }),
  )
  const model = await ok(
    owner.post('/v1/preview/models', {
      entity: ENTITY,
      project: PROJECT,
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
      { role: 'user', content: MARKER },
      { role: 'assistant', content: 'x' },
    ],
  })
  const data = await ok(owner.send('POST', '/v1/preview/training-data', { body: line }))
  const artifact = await logArtifact(owner)
  const model_ref = `wandb-artifact:///${project_id}/model`
  return {
    project_id,
    entity: ENTITY,
    project: PROJECT,
    entity_name: ENTITY,
    project_name: PROJECT,
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
    user: 'anna',
    evaluation_run_ids: [run['evaluation_run_id']],
    prediction_ids: [started.id],
    score_ids: [started.id],
    // Values without which some requests would be malformed.
    name: 'name',
    prompt: 'text',
    claims: { sub: 'somebody' },
    base_url: 'https://models.example/v1',
    tags: ['tag'],
    aliases: ['alias'],
    updates: [{ append: { row: {} } }],
    query: { $expr: { $eq: [{ $getField: 'id' }, { $literal: 'none' }] } },
    from: { calls: {} },
    into: { dataset: { name: 'collected' } },
  }
}

async function logArtifact(owner: KeyClient): Promise<string> {
  const request: typeof server.request = (path, init = {}) =>
    server.request(path, { ...init, headers: { authorization: `Bearer ${owner.key}`, ...init.headers } })
  const client = createTestClient({
    ...server,
    request,
    post: (path, body) => request(path, { method: 'POST', body: JSON.stringify(body) }),
  })
  const id = await client.log({
    entity: ENTITY,
    project: PROJECT,
    name: 'dataset',
    files: { 'data.txt': MARKER },
  })
  return Buffer.from(id, 'base64').toString().split(':')[1] ?? ''
}

/** A name of the same shape that nothing has. */
function missingFor(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(missingFor)
  if (typeof value !== 'string') return value
  if (value === PROJECT) return 'nothing'
  const renamed = value.replaceAll(ENTITY, 'nobody').replaceAll(PROJECT, 'nothing')
  return renamed.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, () => randomUUID())
}

type Operation = (typeof operations)[number]

/** Sends an operation about the named things. */
async function send(client: KeyClient, operation: Operation, names: Named) {
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
  const text =
    body === undefined || method === 'GET' ? {} : { body: bodyOf(body, names, routes.get(operationId)) }
  const headers = {
    project_id: String(names['project_id']),
    'openai-project': String(names['project_id']),
  }
  const response = await client.send(method, `${filled}${query.size > 0 ? `?${query}` : ''}`, {
    ...text,
    headers,
  })
  return { status: response.status, text: await response.text() }
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

/** A text with the names of things taken out, so that replies about different things can be compared. */
function withoutNames(text: string, names: Named): string {
  const values = Object.values(names)
    .flat()
    .filter((value) => typeof value === 'string' && value.length > 3)
  return values
    .toSorted((a, b) => String(b).length - String(a).length)
    .reduce<string>((rest, value) => rest.replaceAll(String(value), '…'), text)
}

/** Everything that the tenant has, as its admin reads it. */
async function stateOf(): Promise<string[]> {
  const { project_id, model_id, queue_id } = named
  const reads = [
    admin.post('/calls/stream_query', { project_id, include_feedback: true }),
    admin.post('/objs/query', { project_id }),
    admin.post('/table/query', { project_id, digest: named['base_digest'] }),
    admin.post('/file/content', { project_id, digest: named['file_digest'] }),
    admin.post('/feedback/query', { project_id }),
    admin.post('/annotation_queues/query', { project_id }),
    admin.post(`/annotation_queues/${queue_id}/items/query`, { project_id }),
    admin.post('/cost/query', { project_id }),
    admin.get(`/v1/preview/models?entity=${ENTITY}`),
    admin.get(`/v1/preview/models/${model_id}/checkpoints`),
    admin.get(`/v1/preview/training-jobs?model_id=${model_id}`),
    admin.get(`/v1/preview/artifacts?entity=${ENTITY}&project=${PROJECT}`),
    admin.get(`/v1/preview/runs?entity=${ENTITY}&project=${PROJECT}`),
    admin.get(`/v1/accounts/teams/${ENTITY}/members`),
    admin.get('/v1/accounts/keys'),
    admin.get('/v1/usage?group_by=project,key'),
  ]
  const texts = await Promise.all(reads.map(async (read) => (await read).text()))
  // The list of keys says when each was last used.
  return texts.map((text) => text.replaceAll(/"(last_used_at|before|from)":"[^"]*"/g, ''))
}

/** Whether a request needs a right to what it names. */
function isRuled(operation: Operation): boolean {
  return typeof routes.get(operation.operationId)?.access === 'object'
}

describe('every operation, about things of another tenant', () => {
  it('reads, changes and reveals nothing', async () => {
    const before = await stateOf()
    const problems: string[] = []
    for (const operation of operations) {
      const real = await send(stranger, operation, named)
      const unreal = await send(stranger, operation, missing)
      const label = `${labelOf(operation)}: ${real.status} ${real.text.slice(0, 200)}`
      if (real.text.includes(MARKER)) problems.push(`reveals: ${label}`)
      if (!isRuled(operation)) continue
      if (real.status !== 403 && real.status !== 404) problems.push(`is not refused: ${label}`)
      const isSame =
        real.status === unreal.status && withoutNames(real.text, named) === withoutNames(unreal.text, missing)
      if (!isSame) problems.push(`differs from what is missing: ${label}, ${unreal.status} ${unreal.text}`)
    }
    expect(problems).toEqual([])
    expect(await stateOf()).toEqual(before)
  }, 300_000)

  it('is refused to keys of the tenant by their roles', async () => {
    const problems: string[] = []
    for (const operation of operations.filter(isRuled)) {
      const access = routes.get(operation.operationId)?.access
      if (typeof access !== 'object') continue
      const refused = [
        ...(access.verb === 'read' ? [] : [viewer]),
        ...(access.verb === 'manage' ? [member] : []),
      ]
      for (const client of refused) {
        const { status, text } = await send(client, operation, named)
        if (status !== 403) problems.push(`${labelOf(operation)}: ${status} ${text}`)
      }
    }
    expect(problems).toEqual([])
  }, 300_000)

  it('401 without a key, unless it is open or the address is signed', async () => {
    const problems: string[] = []
    for (const operation of operations) {
      const access = routes.get(operation.operationId)?.access
      if (access === 'open' || access === 'signed') continue
      const { status } = await send(accounts.as(''), operation, named)
      if (status !== 401) problems.push(`${labelOf(operation)}: ${status}`)
    }
    expect(problems).toEqual([])
  }, 300_000)

  it('reaches its handler for an admin of the tenant', async () => {
    const problems: string[] = []
    for (const operation of operations.filter(isRuled)) {
      const { status, text } = await send(admin, operation, named)
      // A request that is malformed would be refused before anybody's rights are looked at, and prove nothing.
      if (status === 422 || /This key may not|API key/.test(text))
        problems.push(`${labelOf(operation)}: ${status} ${text.slice(0, 300)}`)
    }
    expect(problems).toEqual([])
  }, 300_000)
})

function labelOf({ method, path }: Operation): string {
  return `${method} ${path}`
}
