import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient, digestOf } from '../test-client.ts'

const server = useTestServer()
const client = createTestClient(server)

const FILES = { 'a.txt': 'one', 'folder/b.txt': 'two two', empty: '' }

const BY_NAME = `query ($project: String!, $name: String!) {
  project(name: $project, entityName: "test") { artifactCollectionMembership(name: $name) {
    versionIndex aliases { alias } artifact { id size fileCount digest state metadata description
      artifactType { name } artifactSequence { __typename name } }
    files { totalCount pageInfo { __typename hasNextPage } edges { node { name sizeBytes md5 directUrl } } } } } }`

async function byName(project: string, name: string) {
  const { data } = await client.ask(BY_NAME, { project: project.replace('test/', ''), name })
  return data.project.artifactCollectionMembership
}

async function aliasesIn(project: string, name: string): Promise<Record<string, string[]>> {
  const response = await server.request(
    `/v1/preview/artifacts?entity=test&project=${project.slice(5)}&name=${name}`,
  )
  const { data } = (await response.json()) as { data: { version: number; aliases: string[] }[] }
  return Object.fromEntries(data.map((version) => [`v${version.version}`, version.aliases]))
}

describe('POST /graphql, artifacts', () => {
  it('200 with a version by name, its files and their bytes', async () => {
    const project = server.newProject()
    await client.log({
      project,
      name: 'data',
      files: FILES,
      aliases: ['latest', 'first'],
      metadata: '{"k":1}',
    })
    const version = await byName(project, 'data:latest')
    expect(version).toMatchObject({
      versionIndex: 0,
      aliases: [{ alias: 'latest' }, { alias: 'first' }],
      artifact: {
        size: 10,
        fileCount: 3,
        digest: digestOf(FILES),
        state: 'COMMITTED',
        metadata: '{"k":1}',
        artifactType: { name: 'dataset' },
        artifactSequence: { __typename: 'ArtifactSequence', name: 'data' },
      },
      files: { totalCount: 3, pageInfo: { __typename: 'PageInfo', hasNextPage: false } },
    })
    for (const { node } of version.files.edges) {
      const bytes = await client.follow(node.directUrl)
      expect(await bytes.text()).toBe(FILES[node.name as keyof typeof FILES])
    }
    for (const name of ['data', 'data:first', 'data:v0']) {
      expect(await byName(project, name)).toMatchObject({ versionIndex: 0 })
    }
    for (const name of ['data:v1', 'data:other', 'nothing:latest', '', ':', 'data:']) {
      expect(await byName(project, name)).toBeNull()
    }
  })

  it('200 with an error for more names of files than a statement takes', async () => {
    const id = await client.log({ project: server.newProject(), name: 'data', files: FILES })
    const files = async (names: string[]) =>
      client.ask(
        `query ($names: [String!]) { artifact(id: "${id}") {
          files(names: $names) { totalCount edges { node { name } } } } }`,
        { names },
      )
    const names = Array.from({ length: 33_000 }, (_, index) => String(index))
    expect((await files(names)).errors[0].message).toBe('Ask for 4000 names at once at most, not 33000')
    expect((await files(['a.txt'])).data.artifact.files).toMatchObject({ totalCount: 1 })
  })

  it('200 with the version before when the newest has the same digest, and its aliases moved', async () => {
    const project = server.newProject()
    const first = await client.log({ project, name: 'data', files: FILES, aliases: ['x'] })
    expect(await client.log({ project, name: 'data', files: FILES, aliases: ['y'] })).toBe(first)
    await client.log({ project, name: 'data', files: { 'a.txt': 'other' }, aliases: ['x'] })
    expect(await aliasesIn(project, 'data')).toEqual({ v1: ['latest', 'x'], v0: ['y'] })
    await client.log({ project, name: 'data', files: FILES })
    expect(await aliasesIn(project, 'data')).toEqual({ v2: ['latest'], v1: ['x'], v0: ['y'] })
  })

  it('200 with latest where it belongs after deletions, and no version used twice', async () => {
    const project = server.newProject()
    await client.log({ project, name: 'data', files: { a: '0' } })
    const newest = await client.log({ project, name: 'data', files: { a: '1' }, aliases: ['keep'] })
    const remove = (input: object) => client.mutate('deleteArtifact', 'artifact { id }', { ...input })
    await expect(remove({ artifactID: newest })).rejects.toThrow('has the alias keep')
    await remove({ artifactID: newest, deleteAliases: true })
    await remove({ artifactID: newest, deleteAliases: true })
    expect(await aliasesIn(project, 'data')).toEqual({ v0: ['latest'] })
    expect(await byName(project, 'data:keep')).toBeNull()
    await client.log({ project, name: 'data', files: { a: '1' } })
    expect(await aliasesIn(project, 'data')).toEqual({ v2: ['latest'], v0: [] })
    const { data } = await client.ask(`query { artifact(id: "${newest}") { state } }`)
    expect(data).toEqual({ artifact: { state: 'DELETED' } })
  })

  it('200 with aliases, metadata and tags as they were changed', async () => {
    const project = server.newProject()
    const artifactID = await client.log({ project, name: 'data', files: { a: '0' } })
    const newest = await client.log({ project, name: 'data', files: { a: '1' } })
    const of = { entityName: 'test', projectName: project.slice(5), artifactCollectionName: 'data' }
    const add = (alias: string) =>
      client.mutate('addAliases', 'success', { artifactID, aliases: [{ ...of, alias }] })
    await add('best')
    await expect(add('latest')).rejects.toThrow('cannot be moved')
    await expect(add('v7')).rejects.toThrow('taken for a version')
    await expect(add('a/b')).rejects.toThrow('characters')
    await expect(add('')).rejects.toThrow('characters')
    await client.mutate('deleteAliases', 'success', {
      artifactID: newest,
      aliases: ['best', 'latest', 'nothing'].map((alias) => ({ ...of, alias })),
    })
    expect(await aliasesIn(project, 'data')).toEqual({ v1: ['latest'], v0: ['best'] })

    const changed = await client.mutate(
      'updateArtifact',
      'artifact { metadata description tags { name } aliases { alias } }',
      {
        artifactID,
        metadata: '{"wandb.provenance":["serverless-rl"]}',
        description: 'd',
        tagsToAdd: [{ tagName: 't' }, { tagName: 'u' }],
        tagsToDelete: [{ tagName: 'u' }],
      },
    )
    expect(changed.artifact).toEqual({
      metadata: '{"wandb.provenance":["serverless-rl"]}',
      description: 'd',
      tags: [{ name: 't' }],
      aliases: [{ alias: 'best' }],
    })
    await expect(
      client.mutate('updateArtifact', 'artifact { id }', { artifactID, metadata: '[1]' }),
    ).rejects.toThrow('JSON object')
  })

  it('200 with types, collections and versions page by page', async () => {
    const project = server.newProject()
    for (const name of ['a', 'b', 'c']) await client.log({ project, name, files: { f: name } })
    for (const text of ['2', '3']) await client.log({ project, name: 'c', files: { f: text } })
    await client.open({ project, name: 'c', files: { f: 'pending' } })
    const query = `query ($project: String!, $after: String, $filters: JSONString, $order: String) {
      project(name: $project, entityName: "test") {
        artifactTypes { edges { node { name createdAt } } }
        artifactCollections(first: 2) { totalCount pageInfo { endCursor hasNextPage } edges { node { name } } }
        artifactType(name: "dataset") { artifactCollection(name: "c") { ... on ArtifactSequence { digestAlgorithm }
          createdAt aliases { edges { node { alias } } }
          artifacts(first: 2, after: $after, filters: $filters, order: $order) {
            totalCount pageInfo { endCursor hasNextPage } edges { version node { versionIndex state } } } } }
        other: artifactType(name: "model") { name }
      } }`
    const variables = { project: project.slice(5), filters: '{"state":"COMMITTED"}' }
    const { data } = await client.ask(query, variables)
    const found = data.project
    expect(found).toMatchObject({
      artifactTypes: { edges: [{ node: { name: 'dataset', createdAt: expect.any(String) } }] },
      artifactCollections: { pageInfo: { endCursor: 'b', hasNextPage: true } },
      other: null,
    })
    const { artifacts } = found.artifactType.artifactCollection
    expect(artifacts).toMatchObject({ totalCount: 3, edges: [{ version: 'v2' }, { version: 'v1' }] })
    const next = await client.ask(query, { ...variables, after: artifacts.pageInfo.endCursor })
    expect(next.data.project.artifactType.artifactCollection.artifacts).toMatchObject({
      edges: [{ version: 'v0' }],
      pageInfo: { hasNextPage: false },
    })
    const pending = await client.ask(query, { ...variables, filters: '{"state":"PENDING"}' })
    expect(pending.data.project.artifactType.artifactCollection.artifacts.edges).toMatchObject([
      { node: { state: 'PENDING', versionIndex: null } },
    ])
    for (const bad of [{ filters: '{"createdAt":1}' }, { filters: 'x' }, { order: 'size' }]) {
      expect(await client.ask(query, { ...variables, ...bad })).toMatchObject({ errors: [{}] })
    }
  })

  it('200 with the outputs and inputs of a run, and with the runs of an artifact', async () => {
    const project = server.newProject()
    const names = { entityName: 'test', projectName: project.slice(5), runName: 'r1' }
    await client.mutate('upsertBucket', 'inserted', {
      entityName: 'test',
      modelName: project.slice(5),
      name: 'r1',
    })
    const artifactID = await client.log({ project, name: 'data', files: { a: '0' }, runName: 'r1' })
    for (let times = 0; times < 2; times++) {
      await client.mutate('useArtifact', 'artifact { id }', { ...names, artifactID })
    }
    await expect(
      client.mutate('useArtifact', 'artifact { id }', { ...names, runName: 'nobody', artifactID }),
    ).rejects.toThrow('not found')
    const edges = 'edges { node { artifactSequence { name } } }'
    const { data } = await client.ask(
      `query { project(name: "${names.projectName}", entityName: "test") { run(name: "r1") {
        outputArtifacts { totalCount ${edges} } inputArtifacts { totalCount ${edges} } } }
        artifact(id: "${artifactID}") { createdBy { __typename ... on Run { name } } usedBy { edges { node { name } } } } }`,
    )
    const listed = { totalCount: 1, edges: [{ node: { artifactSequence: { name: 'data' } } }] }
    expect(data).toEqual({
      project: { run: { outputArtifacts: listed, inputArtifacts: listed } },
      artifact: {
        createdBy: { __typename: 'Run', name: 'r1' },
        usedBy: { edges: [{ node: { name: 'r1' } }] },
      },
    })
  })

  it.each(['not an id', 'QXJ0aWZhY3Q6eA==', "'; DROP TABLE artifact_versions; --"])(
    '200 with errors for the unknown id %s',
    async (artifactID) => {
      const upload = { artifactID, name: 'm', entityName: 'e', projectName: 'p', digest: 'x' }
      await expect(
        client.mutate('createArtifactManifest', 'artifactManifest { id }', upload),
      ).rejects.toThrow('not found')
      for (const name of ['commitArtifact', 'deleteArtifact', 'updateArtifact']) {
        await expect(client.mutate(name, 'artifact { id }', { artifactID })).rejects.toThrow('not found')
      }
      const artifactFiles = [{ artifactID, name: 'n', md5: 'x' }]
      await expect(
        client.mutate('createArtifactFiles', 'files { edges { cursor: __typename } }', { artifactFiles }),
      ).rejects.toThrow('not found')
    },
  )

  it('200 with errors for names and options that no artifact can have', async () => {
    const project = server.newProject()
    for (const name of ['', 'a:b', 'a/b', 'x'.repeat(129)]) {
      await expect(client.open({ project, name, files: {} })).rejects.toThrow('characters')
    }
    await client.log({ project, name: 'data', files: { a: '0' } })
    await expect(client.open({ project, name: 'data', type: 'model', files: {} })).rejects.toThrow(
      'has the type dataset, not model',
    )
    await expect(client.open({ project, name: 'm', files: {}, metadata: 'x' })).rejects.toThrow('JSON object')
    const deep = `{"a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`
    await expect(client.open({ project, name: 'm', files: {}, metadata: deep })).rejects.toThrow(
      '1000 levels',
    )
    const artifactID = await client.log({ project, name: 'data', files: { a: '0' } })
    const update = (ttlDurationSeconds: number) =>
      client.mutate('updateArtifact', 'artifact { ttlDurationSeconds }', { artifactID, ttlDurationSeconds })
    await expect(update(3600)).rejects.toThrow('A ttl of an artifact is not supported')
    for (const unlimited of [-1, -2])
      expect(await update(unlimited)).toEqual({ artifact: { ttlDurationSeconds: 0 } })
  })

  it('200 with the version of an id that a client gave it, also where its digest was there before', async () => {
    const project = server.newProject()
    const serverOf = async (clientID: string) =>
      (await client.ask(`query { clientIDMapping(clientID: "${clientID}") { serverID } }`)).data
        .clientIDMapping
    const id = await client.log({ project, name: 'data', files: FILES, clientID: `${project}-1` })
    expect(await serverOf(`${project}-1`)).toEqual({ serverID: id })
    await client.log({ project, name: 'data', files: FILES, clientID: `${project}-2` })
    expect(await serverOf(`${project}-2`)).toEqual({ serverID: id })
    expect(await serverOf('unknown')).toBeNull()
  })
})

describe('GET /v1/preview/artifacts', () => {
  it('200 with committed versions, newest first, page by page', async () => {
    const project = server.newProject()
    for (const text of ['0', '1', '2']) await client.log({ project, name: 'data', files: { a: text } })
    const path = `/v1/preview/artifacts?entity=test&project=${project.slice(5)}`
    const first = (await (await server.request(`${path}&limit=2`)).json()) as Record<string, string>
    expect(first).toMatchObject({
      has_more: true,
      data: [
        { version: 2, size: 1, file_count: 1, files: [{ name: 'a', size: 1 }] },
        { version: 1, type: 'dataset' },
      ],
    })
    const rest = await server.request(`${path}&limit=2&after=${first['last_id']}`)
    expect(await rest.json()).toMatchObject({ has_more: false, data: [{ version: 0 }] })
    for (const [filter, count] of [
      ['type=dataset', 3],
      ['type=other', 0],
      ['name=nothing', 0],
    ] as const) {
      const { data } = (await (await server.request(`${path}&${filter}`)).json()) as { data: unknown[] }
      expect(data).toHaveLength(count)
    }
  })

  it('422 without a project and for an invalid limit, 401 without a key', async () => {
    expect((await server.request('/v1/preview/artifacts')).status).toBe(422)
    expect((await server.request('/v1/preview/artifacts?project=p&limit=1000')).status).toBe(422)
    const anonymous = await server.request('/v1/preview/artifacts?project=p', {
      headers: { authorization: '' },
    })
    expect(anonymous.status).toBe(401)
  })
})

describe('GET /v1/preview/artifacts/{artifact_id}/files/{name} and /artifactsV2/{region}/{entity}/{project}/{collection}/{birth_artifact_id}/{md5_hex}/{name}', () => {
  it('200 with the bytes for any key, 404 for unknown ones, 401 without a key', async () => {
    const project = server.newProject()
    const global = await client.log({ project, name: 'data', files: FILES })
    const id = Buffer.from(global, 'base64').toString().slice('Artifact:'.length)
    const file = await server.request(`/v1/preview/artifacts/${id}/files/folder%2Fb.txt`)
    expect(await file.text()).toBe('two two')
    const md5 = 'f97c5d29941bfb1b2fdab0874906ab82'
    const byDigest = await server.request(
      `/artifactsV2/default/test/p/data/${encodeURIComponent(global)}/${md5}/a.txt`,
    )
    expect(await byDigest.text()).toBe('one')
    for (const path of [
      `/v1/preview/artifacts/${id}/files/nothing`,
      '/v1/preview/artifacts/x/files/a.txt',
      `/artifactsV2/default/test/p/data/${encodeURIComponent(global)}/00/a.txt`,
      `/artifactsV2/default/test/p/data/x/${md5}/a.txt`,
    ]) {
      expect((await server.request(path)).status).toBe(404)
      expect((await server.request(path, { headers: { authorization: '' } })).status).toBe(401)
    }
  })
})
