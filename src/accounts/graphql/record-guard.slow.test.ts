import { beforeAll, describe, expect, it } from 'vitest'
import { createAuthorize } from '../../http/access.ts'
import { useTestServer } from '../../testing.ts'
import { createTestClient, type TestClient } from '../../tracking/test-client.ts'
import { createTestAccounts } from '../test-accounts.ts'
import { RECORD_TYPES } from './record-types.ts'
import { createGraphql } from './service.ts'
import { type Field, isList, readSchema, type TestSchema, type TypeRef } from './test-schema.ts'

/** In every text that the owner writes. */
const MARKER = 'marked-as-of-the-owner'
const ENTITY = 'weavers'
const PROJECT = 'loom'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

let owner: TestClient
let schema: TestSchema
/** What arguments and inputs name. */
let names: Record<string, unknown>
const keys: Record<string, TestClient> = {}

beforeAll(async () => {
  const anna = await accounts.newUser('anna')
  const vera = await accounts.newUser('vera')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' })
  await anna.put(`/v1/accounts/teams/${ENTITY}/members/vera`, { role: 'viewer' })
  const keyOf = async (body: object): Promise<TestClient> => {
    const made = await anna.post('/v1/accounts/keys', { name: 'key', ...body })
    expect(made.status).toBe(200)
    return createTestClient(server, ((await made.json()) as { key: string }).key)
  }
  owner = createTestClient(server, anna.key)
  keys['ingest'] = await keyOf({ scope: 'ingest' })
  keys['ingest, of one project'] = await keyOf({ scope: 'ingest', project_id: `${ENTITY}/${PROJECT}` })
  keys['inference'] = await keyOf({ scope: 'inference' })
  keys['of another project'] = await keyOf({ project_id: `${ENTITY}/other` })
  keys['of a viewer'] = createTestClient(server, vera.key)
  names = await fill()
  schema = await readSchema(owner)
})

async function fill(): Promise<Record<string, unknown>> {
  const at = { entityName: ENTITY, projectName: PROJECT }
  const { bucket } = await owner.mutate('upsertBucket', 'bucket { id }', {
    entityName: ENTITY,
    modelName: PROJECT,
    name: 'run',
    displayName: MARKER,
    description: MARKER,
    notes: MARKER,
    tags: [MARKER],
    config: JSON.stringify({ text: { value: MARKER } }),
    summaryMetrics: JSON.stringify({ text: MARKER }),
  })
  const artifactID = await owner.log({ ...FILES, entity: ENTITY, project: PROJECT, runName: 'run' })
  await owner.mutate('linkArtifact', 'versionIndex', { ...at, artifactID, artifactPortfolioName: 'shelf' })
  const pending = await owner.open({ ...FILES, entity: ENTITY, project: PROJECT, name: 'pending' })
  return {
    ...at,
    modelName: PROJECT,
    runName: 'run',
    artifactID: pending.id,
    artifactCollectionName: FILES.name,
    artifactTypeName: 'dataset',
    digest: await digestOf(artifactID),
    id: bucket.id,
    specs: [],
    aliases: [],
    files: ['a.txt'],
    runId: bucket.id,
    versionId: artifactID,
  }
}

const FILES = { name: 'dataset', metadata: JSON.stringify({ text: MARKER }), files: { [MARKER]: MARKER } }

async function digestOf(id: string): Promise<string> {
  return (await owner.ask('query ($id: ID!) { artifact(id: $id) { digest } }', { id })).data.artifact.digest
}

/** The value of an argument in a document: what it names, or else any of its type. */
function literal(name: string, type: TypeRef, of: Record<string, unknown>): string {
  const inner = schema.innermost(type)
  const known = of[name]
  if (known !== undefined) return JSON.stringify(known)
  const wanted = (inner?.inputFields ?? []).filter((one) => one.type.kind === 'NON_NULL' || one.name in of)
  const one =
    inner?.kind === 'INPUT_OBJECT'
      ? `{ ${wanted.map((field) => `${field.name}: ${literal(field.name, field.type, of)}`).join(' ')} }`
      : inner?.kind === 'ENUM'
        ? inner.enumValues?.[0]?.name
        : { Boolean: 'true', Int: '1', Int64: '1' }[inner?.name ?? '']
  return isList(type) ? `[${one ?? '"run"'}]` : (one ?? '"run"')
}

function callOf({ name, args }: Field, of: Record<string, unknown>): string {
  const given = args.filter(({ type }) => type.kind === 'NON_NULL')
  const passed = given.map((arg) => `${arg.name}: ${literal(arg.name, arg.type, of)}`)
  return passed.length === 0 ? name : `${name}(${passed.join(' ')})`
}

/** A selection that ends in one field, and whether that field is one that only readers see. */
interface Path {
  selection: string
  end: string
  isGuarded: boolean
}

/** Every field that a document can reach from a type without passing one that only readers see. */
function pathsFrom(typeName: string, passed: readonly string[]): Path[] {
  const type = schema.types.get(typeName)
  if (passed.includes(typeName)) return []
  if (type?.kind !== 'OBJECT') {
    const kinds = type?.possibleTypes ?? []
    return kinds.flatMap((kind) =>
      pathsFrom(kind.name, passed).map((path) => ({
        ...path,
        selection: `... on ${kind.name} { ${path.selection} }`,
      })),
    )
  }
  const open = RECORD_TYPES[typeName]?.openFields
  return (type.fields ?? []).flatMap((field) => {
    const call = callOf(field, {})
    const inner = schema.innermost(field.type)
    const isLeaf = inner?.kind === 'SCALAR' || inner?.kind === 'ENUM'
    const isGuarded = open !== undefined && !open.includes(field.name)
    const end = `${typeName}.${field.name}`
    if (isLeaf || isGuarded) return [{ selection: isLeaf ? call : `${call} { __typename }`, end, isGuarded }]
    return pathsFrom(inner?.name ?? '', [...passed, typeName]).map((path) => ({
      ...path,
      selection: `${call} { ${path.selection} }`,
    }))
  })
}

/** Documents of a mutation: by names of things that are there, and by their ids. */
function callsOf(field: Field): string[] {
  const { id: _, ...byName } = names
  const own = field.name === 'upsertBucket' ? { name: 'run' } : { name: PROJECT }
  return [callOf(field, { ...byName, ...own }), callOf(field, { ...names, ...own })]
}

function valuesUnder(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesUnder) : [value]
}

const ANSWERS_INGEST = [
  'upsertModel',
  'upsertBucket',
  'createRunFiles',
  'notifyScriptableRunAlert',
  'createArtifact',
  'createArtifactManifest',
  'createArtifactFiles',
]

describe('a mutation of POST /graphql, by callers who may not read', () => {
  it.each(['ingest', 'ingest, of one project', 'inference', 'of another project', 'of a viewer'])(
    '200 without anything of what others wrote, for a key: %s',
    async (name) => {
      const client = keys[name] as TestClient
      const answering = new Set<string>()
      for (const field of schema.fieldsOf('Mutation')) {
        const payload = schema.innermost(field.type)?.name ?? ''
        for (const call of callsOf(field)) {
          for (const { selection, end, isGuarded } of pathsFrom(payload, [])) {
            const document = `mutation { ${call} { ${selection} } }`
            const reply = await client.ask(document)
            const text = JSON.stringify(reply)
            expect(text, document).not.toContain(MARKER)
            if (/^File\.(url|directUrl)$/.test(end)) expect(text, document).not.toContain('signature=')
            if (reply.data?.[field.name] != null) answering.add(field.name)
            const isSent = end === 'Run.config' || end === 'Run.description' || end === 'Run.displayName'
            if (!isGuarded || isSent) continue
            const seen = valuesUnder(reply.data).filter((value) => value !== null && value !== undefined)
            expect(seen, `${end} in ${document}: ${text}`).toEqual([])
          }
        }
      }
      expect([...answering].sort()).toEqual(name.startsWith('ingest') ? [...ANSWERS_INGEST].sort() : [])
    },
    240_000,
  )

  it('200 with what the caller may read, for its owner', async () => {
    const input = `{ entityName: "${ENTITY}" modelName: "${PROJECT}" name: "run" }`
    const runs = `project { runs { edges { node { config summaryMetrics } } } artifactCollections { edges { node {
      ... on ArtifactSequence { latestArtifact { files { edges { node { directUrl } } } } } } } } }`
    const document = `mutation { upsertBucket(input: ${input}) { bucket { ${runs} } } }`
    const text = JSON.stringify(await owner.ask(document))
    expect(text).toContain(MARKER)
    expect(text).toContain('signature=')
    const denied = await keys['ingest']?.ask(document)
    expect(denied.data.upsertBucket).toEqual({
      bucket: { project: { runs: null, artifactCollections: null } },
    })
  })
})

/** By type, what mutations answer to callers who may not read: a field that is added there is looked at here first. */
const OPEN_IN_MUTATIONS = {
  ApiKey: 'id name description',
  Artifact: 'id state digest',
  ArtifactManifest: 'id digest',
  ArtifactSequence: 'id',
  ArtifactUpload: 'id name displayName storagePath uploadUrl uploadHeaders',
  CompleteMultipartUploadArtifactPayload: 'digest',
  CreateRunFilesPayload: 'runID uploadHeaders',
  DeleteRunPayload: 'clientMutationId',
  Entity: 'id name isTeam readOnly',
  // Of a manifest that is to be uploaded; it has no URL for a download.
  File: 'id name displayName url uploadUrl uploadHeaders directUrl sizeBytes mimetype updatedAt digest md5 storagePath',
  LinkArtifactPayload: 'versionIndex',
  Organization: 'name coreWeaveOrganizationId',
  Project: 'id internalId name entityName description readOnly isBenchmark access',
  Run: 'id name sweepName historyLineCount',
  RunFileUpload: 'name uploadUrl',
  RunSuccessPayload: 'success',
  ServerMessage: 'utfText plainText htmlText messageType messageLevel',
  SuccessPayload: 'success',
  Tag: 'id name tagCategoryName',
  UnlinkArtifactPayload: 'artifactID success clientMutationId',
  UploadMultipartUrls: 'uploadID',
  UploadUrlPart: 'partNumber uploadUrl',
  UpsertBucketPayload: 'inserted',
  UpsertModelPayload: 'inserted',
  User: 'id name username email admin flags entity deletedAt',
}

describe('RECORD_TYPES', () => {
  it('leaves to mutations only what is known here', () => {
    const mutations = schema.fieldsOf('Mutation')
    const paths = mutations.flatMap((field) => pathsFrom(schema.innermost(field.type)?.name ?? '', []))
    const ends = new Set(paths.filter(({ isGuarded }) => !isGuarded).map(({ end }) => end))
    const byType = Map.groupBy(ends, (end) => end.split('.')[0] ?? '')
    const fieldsByType = [...byType].map(([type, fields]) => [
      type,
      fields.map((field) => field.slice(type.length + 1)).join(' '),
    ])
    expect(Object.fromEntries(fieldsByType)).toEqual(OPEN_IN_MUTATIONS)
  })

  it('names only types and fields that are there', () => {
    for (const [name, { openFields }] of Object.entries(RECORD_TYPES)) {
      const fields = schema.types.get(name)?.fields?.map((field) => field.name)
      expect(fields, name).toEqual(expect.arrayContaining([...openFields]))
    }
  })

  it('has every type with resolvers', () => {
    const module = {
      types: 'type Secret { text: String } extend type Query { secret: Secret }',
      access: { secret: 'any-key' as const },
      resolvers: { Secret: { text: () => MARKER } },
    }
    expect(() => createGraphql([module], createAuthorize({}))).toThrow('whose a Secret is')
  })
})
