/**
 * Every operation of the API, with what belongs to one tenant, in the name of another: nothing is read, changed or
 * revealed. An operation that is added later takes part by itself.
 */
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../src/accounts/test-accounts.ts'
import { openFakeCompute } from '../src/stores/compute/fake-compute.ts'
import { useTestServer } from '../src/testing.ts'
import { type Named, operations } from './openapi-examples.ts'
import { makeThings, type Operation, ok, requestText, routes, send } from './tenant-things.ts'

/** In every text that the tenant writes. */
const MARKER = 'marked-as-of-the-tenant'

const ENTITY = 'weavers'
const PROJECT = 'loom'

const server = useTestServer({ auth: 'keys', compute: openFakeCompute })
const accounts = createTestAccounts(server)

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
  named = await makeThings(server, {
    owner: admin,
    user: 'anna',
    entity: ENTITY,
    project: PROJECT,
    text: MARKER,
  })
  const other: [string, unknown][] = Object.entries(named).map(([name, value]) => [name, missingFor(value)])
  missing = Object.fromEntries(other)
}, 120_000)

/** A name of the same shape that nothing has. */
function missingFor(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(missingFor)
  if (typeof value !== 'string') return value
  if (value === PROJECT) return 'nothing'
  const renamed = value.replaceAll(ENTITY, 'nobody').replaceAll(PROJECT, 'nothing')
  return renamed.replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, () => randomUUID())
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

/** Where a thing is; the other names say which it is. */
const PLACES = ['project_id', 'entity', 'project', 'entity_name', 'project_name'] as const

/** Own names beside the place, or one other name, of the tenant's thing, and the reverse; each request once. */
function mixturesOf(operation: Operation, own: Named): Named[] {
  const placeOf = (names: Named): Named => Object.fromEntries(PLACES.map((name) => [name, names[name]]))
  const mixtures = [
    { ...own, ...placeOf(named) },
    { ...named, ...placeOf(own) },
    ...Object.keys(own).flatMap((name) => [
      { ...own, [name]: named[name] },
      { ...named, [name]: own[name] },
    ]),
  ]
  const unmixed = [own, named].map((names) => requestText(operation, names))
  const requests = new Map(mixtures.map((names) => [requestText(operation, names), names]))
  return [...requests].filter(([text]) => !unmixed.includes(text)).map(([, names]) => names)
}

function rank({ method, path }: Operation): number {
  return method === 'DELETE' || /delete|purge|erase/.test(path) ? 1 : 0
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

  it('reads, changes and reveals nothing where some of the names are of things of the caller', async () => {
    const before = await stateOf()
    const place = { entity: 'sten', project: 'own' }
    const own = await makeThings(server, { owner: stranger, user: 'sten', ...place, text: 'own' })
    const problems: string[] = []
    // Those that delete come last, so that the others find the things of the caller.
    for (const operation of operations.filter(isRuled).toSorted((a, b) => rank(a) - rank(b)))
      for (const names of mixturesOf(operation, own)) {
        const { status, text } = await send(stranger, operation, names)
        if (text.includes(MARKER) || status >= 500)
          problems.push(`${labelOf(operation)}: ${status} ${text.slice(0, 200)}`)
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
      // A request that is malformed would be refused before anybody's rights are looked at, and prove nothing; an item
      // of a batch is refused after.
      const isMalformed = status === 422 && !/"loc":\["body","batch","\d+"\]/.test(text)
      if (isMalformed || /This key may not|API key/.test(text))
        problems.push(`${labelOf(operation)}: ${status} ${text.slice(0, 300)}`)
    }
    expect(problems).toEqual([])
  }, 300_000)
})

function labelOf({ method, path }: Operation): string {
  return `${method} ${path}`
}
