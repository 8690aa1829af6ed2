/** Every field of the W&B API, about things of one tenant, in the name of another: the documents come from its schema. */
import { beforeAll, describe, expect, it } from 'vitest'
import { globalId } from '../src/accounts/graphql/global-id.ts'
import { createTestAccounts, type KeyClient } from '../src/accounts/test-accounts.ts'
import { useTestServer } from '../src/testing.ts'
import { createTestClient, type TestClient } from '../src/tracking/test-client.ts'

const MARKER = 'marked-as-of-the-tenant'
const ENTITY = 'weavers'
const PROJECT = 'loom'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

interface TypeRef {
  kind: string
  name: string | null
  ofType?: TypeRef | null
}

interface Field {
  name: string
  args: { name: string; type: TypeRef }[]
  type: TypeRef
}

interface Type {
  name: string
  kind: string
  fields: Field[] | null
  inputFields: { name: string; type: TypeRef }[] | null
  enumValues: { name: string }[] | null
}

let owner: KeyClient
let stranger: KeyClient
let types: Map<string, Type>
let artifact: string
let collection: string
let run: string

beforeAll(async () => {
  owner = await accounts.newUser('anna')
  stranger = await accounts.newUser('sten')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' })
  const client = clientOf(owner)
  const started = await client.mutate('upsertBucket', 'bucket { id name }', {
    entityName: ENTITY,
    modelName: PROJECT,
    name: 'run',
    config: JSON.stringify({ text: { value: MARKER } }),
  })
  run = started.bucket.id
  const files = { 'data.txt': MARKER }
  artifact = await client.log({ entity: ENTITY, project: PROJECT, name: 'dataset', runName: 'run', files })
  const query = 'query ($id: ID!) { artifact(id: $id) { artifactSequence { id } } }'
  collection = (await client.ask(query, { id: artifact })).data.artifact.artifactSequence.id
  types = await schemaTypes(client)
}, 120_000)

function clientOf({ key }: KeyClient): TestClient {
  const request: typeof server.request = (path, init = {}) =>
    server.request(path, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })
  const post = (path: string, body: unknown) => request(path, { method: 'POST', body: JSON.stringify(body) })
  return createTestClient({ ...server, request, post })
}

async function schemaTypes(client: TestClient): Promise<Map<string, Type>> {
  const ref = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }'
  const { data } = await client.ask(`{ __schema { types { name kind enumValues { name }
    inputFields { name type { ${ref} } } fields { name args { name type { ${ref} } } type { ${ref} } } } } }`)
  return new Map(data.__schema.types.map((type: Type) => [type.name, type]))
}

function fieldsOf(root: 'Query' | 'Mutation'): Field[] {
  return types.get(root)?.fields ?? []
}

/** What arguments and members of inputs name, in each case. */
function named(field: string): Record<string, unknown> {
  const ids: Record<string, string> = {
    artifact,
    artifactCollection: collection,
    deleteRun: run,
    stopRun: run,
  }
  return {
    id: ids[field] ?? null,
    entityName: ENTITY,
    projectName: PROJECT,
    modelName: PROJECT,
    name: field === 'entity' ? ENTITY : field === 'upsertBucket' ? 'run' : PROJECT,
    runName: 'run',
    artifactID: artifact,
    artifactSequenceID: collection,
    artifactPortfolioID: collection,
    artifactCollectionName: 'dataset',
    clientMutationId: null,
    distributedID: null,
    metadata: '{}',
    config: '{}',
    summaryMetrics: '{}',
    state: null,
    type: null,
  }
}

function innermost(type: TypeRef): TypeRef {
  return type.ofType == null ? type : innermost(type.ofType)
}

function isList(type: TypeRef | null | undefined): boolean {
  return type != null && (type.kind === 'LIST' || isList(type.ofType))
}

function exampleOf(name: string, type: TypeRef, names: Record<string, unknown>): unknown {
  if (Object.hasOwn(names, name)) return names[name]
  const inner = types.get(innermost(type).name ?? '')
  const one =
    inner?.kind === 'INPUT_OBJECT'
      ? Object.fromEntries(
          (inner.inputFields ?? []).map((field) => [field.name, exampleOf(field.name, field.type, names)]),
        )
      : inner?.kind === 'ENUM'
        ? inner.enumValues?.[0]?.name
        : scalarOf(inner?.name)
  return isList(type) ? [one] : one
}

function scalarOf(name: string | undefined): unknown {
  if (name === 'Boolean') return true
  return name === 'Int' || name === 'Int64' || name === 'Float' ? 1 : 'text'
}

function typeText(type: TypeRef): string {
  if (type.kind === 'NON_NULL' && type.ofType) return `${typeText(type.ofType)}!`
  if (type.kind === 'LIST' && type.ofType) return `[${typeText(type.ofType)}]`
  return type.name ?? ''
}

/** A document that asks for one field with everything it may name. */
async function askFor(client: TestClient, root: 'Query' | 'Mutation', field: Field) {
  const names = named(field.name)
  const variables = Object.fromEntries(
    field.args.map(({ name, type }) => [name, exampleOf(name, type, names)]),
  )
  const declared = field.args.map(({ name, type }) => `$${name}: ${typeText(type)}`).join(', ')
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ')
  const inner = types.get(innermost(field.type).name ?? '')
  const selection = inner?.fields ? ' { __typename }' : ''
  const head = declared === '' ? '' : `(${declared})`
  const call = passed === '' ? field.name : `${field.name}(${passed})`
  return client.ask(`${root.toLowerCase()} ${head} { ${call}${selection} }`, variables)
}

/** What anybody with a key may ask for. */
const OF_EVERYONE = new Set(['viewer', 'serverInfo', 'clientIDMapping', 'completeMultipartUploadArtifact'])

async function stateOf(): Promise<string> {
  const query = `query { project(name: "${PROJECT}", entityName: "${ENTITY}") {
    run(name: "run") { id config state stopped: historyLineCount files { edges { node { name } } } }
    artifactCollection(name: "dataset") { name description tags { edges { node { name } } }
      aliases { edges { node { alias } } }
      artifacts { edges { node { id state digest description metadata tags { name } aliases { alias } } } } } } }`
  return JSON.stringify(await clientOf(owner).ask(query))
}

describe('every field of POST /graphql, about things of another tenant', () => {
  it('200 with null for what it asks for', async () => {
    for (const field of fieldsOf('Query').filter(({ name }) => !OF_EVERYONE.has(name))) {
      const reply = await askFor(clientOf(stranger), 'Query', field)
      expect(reply, field.name).toEqual({ data: { [field.name]: null } })
      const own = await askFor(clientOf(owner), 'Query', field)
      expect(own.data?.[field.name], `${field.name} ${JSON.stringify(own)}`).toMatchObject({})
    }
  })

  it('200 with an error for what it would change, and nothing is changed', async () => {
    const before = await stateOf()
    expect(before).toContain(MARKER)
    for (const field of fieldsOf('Mutation').filter(({ name }) => !OF_EVERYONE.has(name))) {
      const reply = await askFor(clientOf(stranger), 'Mutation', field)
      expect(reply.errors?.[0]?.message, `${field.name} ${JSON.stringify(reply)}`).toMatch(
        /This key may not|not found/,
      )
    }
    expect(await stateOf()).toEqual(before)
  })

  it('403 for signed addresses that were made for something else', async () => {
    const id = Buffer.from(artifact, 'base64').toString().split(':')[1]
    for (const path of [
      `/storage/artifact-files/${id}?name=data.txt`,
      `/storage/artifact-manifests/${id}?x=1`,
    ]) {
      const response = await stranger.get(`${path}&expires=9999999999&signature=AAAA`)
      expect(response.status).toBe(403)
    }
    expect(globalId('Artifact', id ?? '')).toBe(artifact)
  })
})
