import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { replyOf, useTestServer } from '../../testing.ts'
import { createTestClient, type TestClient } from '../test-client.ts'

const ENTITY = 'weavers'
const PROJECT = 'loom'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

let owner: TestClient
let ingest: TestClient
let stranger: TestClient

beforeAll(async () => {
  const anna = await accounts.newUser('anna')
  const sten = await accounts.newUser('sten')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' })
  owner = createTestClient(server, anna.key)
  ingest = createTestClient(server, await ingestKey(anna))
  stranger = createTestClient(server, sten.key)
})

async function ingestKey(user: KeyClient, project_id?: string): Promise<string> {
  const made = await user.post('/v1/accounts/keys', { name: 'ingest', scope: 'ingest', project_id })
  return String((await replyOf(made))['key'])
}

/** Wire: what clients ask of every run that they start. */
const BUCKET = `inserted bucket { id name displayName description config sweepName historyLineCount
  project { id name entity { id name } } }`

function start(client: TestClient, name: string, input: object = {}) {
  return client.mutate('upsertBucket', BUCKET, { entityName: ENTITY, modelName: PROJECT, name, ...input })
}

describe('POST /graphql with a key of scope ingest', () => {
  it('200 with the run that it starts, and of one that is there only what it sends', async () => {
    const config = '{"lr":{"value":0.1}}'
    const project = { name: PROJECT, entity: { name: ENTITY } }
    const name = 'started'
    expect(await start(ingest, name, { config })).toMatchObject({
      inserted: true,
      bucket: { name, displayName: name, description: null, config, historyLineCount: 0, project },
    })
    expect(await start(ingest, name)).toMatchObject({
      inserted: false,
      bucket: { name, displayName: null, config: null, historyLineCount: 0, project },
    })
    expect(await start(ingest, name, { displayName: 'x' })).toMatchObject({
      bucket: { displayName: 'x', config: null },
    })
    expect(await start(owner, name)).toMatchObject({ bucket: { displayName: 'x', config } })
  })

  it('200 for a change of its run by id; not found for strangers', async () => {
    const { bucket } = await start(ingest, 'changed')
    const change = { id: bucket.id, notes: 'a note' }
    expect(await ingest.mutate('upsertBucket', 'bucket { id notes }', change)).toEqual({
      bucket: { id: bucket.id, notes: null },
    })
    await expect(stranger.mutate('upsertBucket', 'bucket { id }', change)).rejects.toThrow('not found')
    const named = { ...change, entityName: 'sten', modelName: 'own' }
    await expect(stranger.mutate('upsertBucket', 'bucket { id }', named)).rejects.toThrow('not found')
    expect(await owner.mutate('upsertBucket', 'bucket { notes }', { id: bucket.id })).toEqual({
      bucket: { notes: 'a note' },
    })
  })

  it('200 with an error for a run that it may only write to', async () => {
    const { bucket } = await start(ingest, 'kept')
    await expect(ingest.mutate('deleteRun', '__typename', { id: bucket.id })).rejects.toThrow('not found')
  })

  it('200 for every step of an upload, whose version others read', async () => {
    const files = { 'data.txt': 'text' }
    const id = await ingest.log({ entity: ENTITY, project: PROJECT, name: 'dataset', files })
    const query = 'query ($id: ID!) { artifact(id: $id) { state files { edges { node { name } } } } }'
    expect(await ingest.ask(query, { id })).toEqual({ data: { artifact: null } })
    expect((await owner.ask(query, { id })).data.artifact).toEqual({
      state: 'COMMITTED',
      files: { edges: [{ node: { name: 'data.txt' } }] },
    })
    await expect(stranger.commit(id)).rejects.toThrow('not found')
    const again = await ingest.mutate(
      'createArtifact',
      'artifact { id state artifactSequence { id latestArtifact { id } } }',
      {
        entityName: ENTITY,
        projectName: PROJECT,
        artifactCollectionName: 'dataset',
        artifactTypeName: 'dataset',
        digest: (await owner.commit(id)).artifact.digest,
      },
    )
    expect(again.artifact).toMatchObject({
      id,
      state: 'COMMITTED',
      artifactSequence: { latestArtifact: null },
    })
  })
})

describe('POST /graphql with a key of one project', () => {
  it('200 for a run without a project only where the key is of the default project', async () => {
    const user = await accounts.newUser('lone')
    const made = async (project: string) => createTestClient(server, await ingestKey(user, `lone/${project}`))
    const bare = { entityName: 'lone', name: 'bare' }
    const started = await (await made('uncategorized')).mutate('upsertBucket', BUCKET, bare)
    expect(started.bucket.project.name).toBe('uncategorized')
    await expect((await made('other')).mutate('upsertBucket', BUCKET, bare)).rejects.toThrow('may not write')
  })
})
