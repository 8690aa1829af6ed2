/**
 * Every field of the W&B API, about things of one tenant, in the name of another: the documents come from its schema.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { globalId, plainId } from '../src/accounts/graphql/global-id.ts'
import {
  type Field,
  isList,
  readSchema,
  type TestSchema,
  type TypeRef,
} from '../src/accounts/graphql/test-schema.ts'
import { createTestAccounts, type KeyClient } from '../src/accounts/test-accounts.ts'
import { useTestServer } from '../src/testing.ts'
import { createTestClient, type TestClient } from '../src/tracking/test-client.ts'

const MARKER = 'marked-as-of-the-tenant'
const ENTITY = 'weavers'
const PROJECT = 'loom'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

let owner: TestClient
let strangerKey: KeyClient
let stranger: TestClient
let schema: TestSchema

/** What a tenant has. */
interface Things {
  entity: string
  project: string
  artifact: string
  collection: string
  portfolio: string
  run: string
}

let things: Things

beforeAll(async () => {
  owner = createTestClient(server, (await accounts.newUser('anna')).key)
  strangerKey = await accounts.newUser('sten')
  stranger = createTestClient(server, strangerKey.key)
  await (await accounts.operator()).post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' })
  things = await makeThings(owner, { entity: ENTITY, project: PROJECT }, MARKER)
  schema = await readSchema(owner)
}, 120_000)

async function makeThings(
  client: TestClient,
  { entity, project }: Pick<Things, 'entity' | 'project'>,
  text: string,
): Promise<Things> {
  const started = await client.mutate('upsertBucket', 'bucket { id name }', {
    entityName: entity,
    modelName: project,
    name: 'run',
    config: JSON.stringify({ text: { value: text } }),
  })
  const files = { 'data.txt': text }
  const artifact = await client.log({ entity, project, name: 'dataset', runName: 'run', files })
  const query = 'query ($id: ID!) { artifact(id: $id) { artifactSequence { id } } }'
  const collection = (await client.ask(query, { id: artifact })).data.artifact.artifactSequence.id
  const linked = await client.mutate('linkArtifact', 'artifactMembership { artifactCollection { id } }', {
    artifactID: artifact,
    entityName: entity,
    projectName: project,
    artifactPortfolioName: 'registered',
    aliases: [{ artifactCollectionName: 'registered', alias: 'production' }],
  })
  const portfolio = linked.artifactMembership.artifactCollection.id
  return { entity, project, artifact, collection, portfolio, run: started.bucket.id }
}

/** What arguments and members of inputs name, in each case. */
function named(
  field: string,
  { entity, project, artifact, collection, portfolio, run }: Things,
): Record<string, unknown> {
  const ids: Record<string, string> = {
    artifact,
    artifactCollection: collection,
    deleteRun: run,
    stopRun: run,
  }
  return {
    id: ids[field] ?? null,
    entityName: entity,
    projectName: project,
    modelName: project,
    name: field === 'entity' ? entity : field === 'upsertBucket' ? 'run' : project,
    runName: 'run',
    artifactID: artifact,
    artifactSequenceID: collection,
    artifactPortfolioID: portfolio,
    artifactPortfolioName: 'registered',
    artifactCollectionName: 'dataset',
    clientMutationId: null,
    distributedID: null,
    metadata: '{}',
    config: '{}',
    summaryMetrics: '{}',
    state: null,
    type: null,
    ...(field === 'deleteFiles' && { files: [globalId('RunFile', `${plainId('Run', run)}:data.txt`)] }),
  }
}

function exampleOf(name: string, type: TypeRef, names: Record<string, unknown>): unknown {
  if (Object.hasOwn(names, name)) return names[name]
  const inner = schema.innermost(type)
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
async function askFor(
  client: TestClient,
  root: 'Query' | 'Mutation',
  field: Field,
  names = named(field.name, things),
) {
  const variables = Object.fromEntries(
    field.args.map(({ name, type }) => [name, exampleOf(name, type, names)]),
  )
  const declared = field.args.map(({ name, type }) => `$${name}: ${typeText(type)}`).join(', ')
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ')
  const inner = schema.innermost(field.type)
  const selection = inner?.fields ? ' { __typename }' : ''
  const head = declared === '' ? '' : `(${declared})`
  const call = passed === '' ? field.name : `${field.name}(${passed})`
  return client.ask(`${root.toLowerCase()} ${head} { ${call}${selection} }`, variables)
}

/** What anybody with a key may ask for. */
const OF_EVERYONE = new Set(['viewer', 'serverInfo', 'clientIDMapping', 'completeMultipartUploadArtifact'])

async function stateOf(): Promise<string> {
  const query = `query { project(name: "${PROJECT}", entityName: "${ENTITY}") {
    runs { edges { node { id name config state stopped: historyLineCount files { edges { node { name } } } } } }
    artifactCollections { edges { node { name description tags { edges { node { name } } }
      aliases { edges { node { alias } } }
      artifacts { edges { node { id state digest description metadata tags { name } aliases { alias } } } } } } } } }`
  return JSON.stringify(await owner.ask(query))
}

const IDS = ['id', 'artifactID', 'artifactSequenceID', 'artifactPortfolioID'] as const
const NAMES = ['entityName', 'projectName', 'modelName', 'name', 'runName'] as const

/** Every mixture in which each id is one of both or absent, and all names are of one of both. */
function mixturesOf(
  own: Record<string, unknown>,
  others: Record<string, unknown>,
): Record<string, unknown>[] {
  let mixtures = [own, { ...own, ...Object.fromEntries(NAMES.map((name) => [name, others[name]])) }]
  for (const id of IDS)
    mixtures = mixtures.flatMap((mixture) =>
      [...new Set([own[id], others[id], null])].map((value) => ({ ...mixture, [id]: value })),
    )
  return mixtures
}

describe('every field of POST /graphql, about things of another tenant', () => {
  it('200 with null for what it asks for', async () => {
    for (const field of schema.fieldsOf('Query').filter(({ name }) => !OF_EVERYONE.has(name))) {
      const reply = await askFor(stranger, 'Query', field)
      expect(reply, field.name).toEqual({ data: { [field.name]: null } })
      const own = await askFor(owner, 'Query', field)
      expect(own.data?.[field.name], `${field.name} ${JSON.stringify(own)}`).toMatchObject({})
    }
  })

  it('200 with an error for what it would change, and nothing is changed', async () => {
    const before = await stateOf()
    expect(before).toContain(MARKER)
    for (const field of schema.fieldsOf('Mutation').filter(({ name }) => !OF_EVERYONE.has(name))) {
      const reply = await askFor(stranger, 'Mutation', field)
      expect(reply.errors?.[0]?.message, `${field.name} ${JSON.stringify(reply)}`).toMatch(
        /This key may not|not found/,
      )
    }
    expect(await stateOf()).toEqual(before)
  })

  it('200 without a change of it, whichever of its names stand beside the own ids of the caller, and the reverse', async () => {
    const before = await stateOf()
    for (const field of schema.fieldsOf('Mutation').filter(({ name }) => !OF_EVERYONE.has(name))) {
      // New ones each time, since some fields delete them.
      const place = { entity: 'sten', project: field.name }
      const own = await makeThings(stranger, place, 'own')
      for (const names of mixturesOf(named(field.name, own), named(field.name, things))) {
        const reply = await askFor(stranger, 'Mutation', field, names)
        expect(JSON.stringify(reply), field.name).not.toContain(MARKER)
      }
      expect(await stateOf(), field.name).toEqual(before)
    }
  }, 600_000)

  it('403 for signed addresses that were made for something else', async () => {
    const id = Buffer.from(things.artifact, 'base64').toString().split(':')[1]
    for (const path of [
      `/storage/artifact-files/${id}?name=data.txt`,
      `/storage/artifact-manifests/${id}?x=1`,
    ]) {
      const response = await strangerKey.get(`${path}&expires=9999999999&signature=AAAA`)
      expect(response.status).toBe(403)
    }
    expect(globalId('Artifact', id ?? '')).toBe(things.artifact)
  })
})
