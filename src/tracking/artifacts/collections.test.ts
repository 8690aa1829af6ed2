import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'

const server = useTestServer()
const client = createTestClient(server)

const COLLECTION = `query ($project: String!, $name: String!) {
  project(name: $project, entityName: "test") { artifactCollection(name: $name) {
    __typename id name description updatedAt type: defaultArtifactType { name }
    tags { edges { node { name } } } aliases { edges { node { alias } } }
    artifacts { totalCount edges { version node { id versionIndex } } } } } }`

async function collection(project: string, name: string) {
  const { data } = await client.ask(COLLECTION, { project: project.slice(5), name })
  return data.project.artifactCollection
}

const MEMBER = `query ($project: String!, $name: String!) {
  project(name: $project, entityName: "test") { artifact(name: $name) { id }
    artifactCollectionMembership(name: $name) { versionIndex aliases { alias }
      artifactCollection { __typename name } artifact { id artifactSequence { name } versionIndex }
      files { edges { node { name directUrl } } } } } }`

async function member(project: string, name: string) {
  const { data } = await client.ask(MEMBER, { project: project.slice(5), name })
  expect(data.project.artifact?.id).toBe(data.project.artifactCollectionMembership?.artifact.id)
  return data.project.artifactCollectionMembership
}

function nameIn(project: string, name: string) {
  return { entityName: 'test', projectName: project.slice(5), artifactCollectionName: name }
}

async function link(
  project: string,
  artifactID: string,
  name: string,
  aliases: string[] = [],
): Promise<number> {
  const result = await client.mutate('linkArtifact', 'versionIndex artifactMembership { versionIndex }', {
    artifactID,
    artifactPortfolioName: name,
    entityName: 'test',
    projectName: project.slice(5),
    aliases: aliases.map((alias) => ({ artifactCollectionName: name, alias })),
  })
  expect(result.artifactMembership.versionIndex).toBe(result.versionIndex)
  return result.versionIndex
}

const remove = (kind: 'Sequence' | 'Portfolio', id: string) =>
  client.mutate(`deleteArtifact${kind}`, 'artifactCollection { __typename state }', {
    [`artifact${kind}ID`]: id,
  })

describe('POST /graphql, links', () => {
  it("200 with versions of several sequences in one portfolio, under the portfolio's numbers and aliases", async () => {
    const project = server.newProject()
    const other = server.newProject()
    const a = await client.log({ project, name: 'a', files: { f: 'a' } })
    const b0 = await client.log({ project, name: 'b', files: { f: 'b' } })
    const b1 = await client.log({ project, name: 'b', files: { f: 'c' }, aliases: ['mine'] })
    expect(await link(other, a, 'shelf', ['best'])).toBe(0)
    expect(await link(other, b1, 'shelf', ['latest', 'best'])).toBe(1)
    expect(await link(other, b1, 'shelf', ['again'])).toBe(1)
    expect(await link(other, b0, 'shelf')).toBe(2)

    expect(await collection(other, 'shelf')).toMatchObject({
      __typename: 'ArtifactPortfolio',
      type: { name: 'dataset' },
      aliases: { edges: ['again', 'best', 'latest'].map((alias) => ({ node: { alias } })) },
      artifacts: {
        totalCount: 3,
        edges: [
          { version: 'v2', node: { id: b0, versionIndex: 0 } },
          { version: 'v1', node: { id: b1, versionIndex: 1 } },
          { version: 'v0', node: { id: a, versionIndex: 0 } },
        ],
      },
    })
    const found = await member(other, 'shelf:best')
    expect(found).toMatchObject({
      versionIndex: 1,
      aliases: [{ alias: 'again' }, { alias: 'best' }],
      artifactCollection: { __typename: 'ArtifactPortfolio', name: 'shelf' },
      artifact: { id: b1, artifactSequence: { name: 'b' }, versionIndex: 1 },
    })
    expect(await (await client.follow(found.files.edges[0].node.directUrl)).text()).toBe('c')
    for (const name of ['shelf', 'shelf:latest', 'shelf:v2']) {
      expect(await member(other, name)).toMatchObject({ versionIndex: 2, artifact: { id: b0 } })
    }
    for (const name of ['shelf:mine', 'shelf:v3']) expect(await member(other, name)).toBeNull()
    expect(await member(project, 'b:best')).toBeNull()
    // The aliases of the sequence stay.
    expect(await member(project, 'b:mine')).toMatchObject({
      aliases: [{ alias: 'latest' }, { alias: 'mine' }],
    })
  })

  it('200 with the portfolios of a version, until it is unlinked', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    const other = await client.log({ project, name: 'a', files: { f: 'b' } })
    await link(project, other, 'shelf')
    await link(project, id, 'shelf', ['best'])
    const linked = async () => {
      const { data } = await client.ask(
        `query { artifact(id: "${id}") { aliases { alias artifactCollection { name } } artifactMemberships { edges { node {
          versionIndex aliases { alias } artifactCollection { __typename name } } } } } }`,
      )
      return data.artifact
    }
    expect(await linked()).toEqual({
      aliases: ['latest', 'best', 'v1'].map((alias) => ({ alias, artifactCollection: { name: 'shelf' } })),
      artifactMemberships: {
        edges: [
          {
            node: {
              versionIndex: 0,
              aliases: [],
              artifactCollection: { __typename: 'ArtifactSequence', name: 'a' },
            },
          },
          {
            node: {
              versionIndex: 1,
              aliases: [{ alias: 'latest' }, { alias: 'best' }],
              artifactCollection: { __typename: 'ArtifactPortfolio', name: 'shelf' },
            },
          },
        ],
      },
    })
    const artifactPortfolioID = (await collection(project, 'shelf')).id
    for (let times = 0; times < 2; times++) {
      await client.mutate('unlinkArtifact', 'success', { artifactID: id, artifactPortfolioID })
    }
    expect(await member(project, 'shelf:best')).toBeNull()
    expect(await member(project, 'shelf:latest')).toMatchObject({ versionIndex: 0, artifact: { id: other } })
    expect((await linked()).artifactMemberships.edges).toHaveLength(1)
    expect(await link(project, id, 'shelf')).toBe(2)
    const sequence = (await collection(project, 'a')).id
    await expect(
      client.mutate('unlinkArtifact', 'success', { artifactID: id, artifactPortfolioID: sequence }),
    ).rejects.toThrow('delete the version')
  })

  it('200 for fields that older clients ask for', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    await link(project, id, 'shelf')
    const ofType = async (fields: string) => {
      const query = `{ project(name: "${project.slice(5)}", entityName: "test") { artifactType(name: "dataset") { ${fields} } } }`
      return (await client.ask(query)).data.project.artifactType
    }
    expect(
      await ofType(`sequence: artifactSequence(name: "a") { __typename name } portfolio: artifactSequence(name: "shelf") { id }
        artifact(name: "a:v0") { files { edges { node { name } } } } none: artifact(name: "b:v0") { id }`),
    ).toEqual({
      sequence: { __typename: 'ArtifactSequence', name: 'a' },
      portfolio: null,
      artifact: { files: { edges: [{ node: { name: 'f' } }] } },
      none: null,
    })
    const artifactPortfolioID = (await collection(project, 'shelf')).id
    const unlinked = await client.mutate('unlinkArtifact', 'artifactID success clientMutationId', {
      artifactID: id,
      artifactPortfolioID,
    })
    expect(unlinked).toEqual({ artifactID: id, success: true, clientMutationId: null })
  })

  it('200 with aliases set and taken where a client names the collection', async () => {
    const project = server.newProject()
    const artifactID = await client.log({ project, name: 'a', files: { f: 'a' }, aliases: ['x'] })
    await link(project, artifactID, 'shelf', ['x'])
    const aliases = [{ ...nameIn(project, 'shelf'), alias: 'y' }]
    await client.mutate('addAliases', 'success', { artifactID, aliases })
    expect(await member(project, 'shelf:y')).toMatchObject({ artifact: { id: artifactID } })
    expect(await member(project, 'a:y')).toBeNull()
    const gone = [{ ...nameIn(project, 'a'), alias: 'x' }]
    await client.mutate('deleteAliases', 'success', { artifactID, aliases: gone })
    expect(await member(project, 'a:x')).toBeNull()
    expect(await member(project, 'shelf:x')).not.toBeNull()
    const unknown = { artifactID, aliases: [{ ...nameIn(project, 'nothing'), alias: 'z' }] }
    await expect(client.mutate('addAliases', 'success', unknown)).rejects.toThrow('not found')
  })

  it('200 with an error and no alias changed where one of a request cannot be, or there are too many', async () => {
    const project = server.newProject()
    const artifactID = await client.log({ project, name: 'a', files: { f: 'a' }, aliases: ['x'] })
    const change = (name: 'addAliases' | 'deleteAliases', aliases: object[]) =>
      client.mutate(name, 'success', { artifactID, aliases })
    const good = { ...nameIn(project, 'a'), alias: 'y' }
    const gone = { ...nameIn(project, 'a'), alias: 'x' }
    const lost = { ...nameIn(project, 'nothing'), alias: 'z' }
    await expect(change('addAliases', [good, lost])).rejects.toThrow('not found')
    await expect(change('deleteAliases', [gone, lost])).rejects.toThrow('not found')
    expect(await member(project, 'a:y')).toBeNull()
    expect(await member(project, 'a:x')).not.toBeNull()

    const names = Array.from({ length: 101 }, (_, index) => `alias ${index}`)
    const many = names.map((alias) => ({ ...nameIn(project, 'a'), alias }))
    const refusal = 'Name 100 aliases at once at most, not 101'
    await expect(change('addAliases', many)).rejects.toThrow(refusal)
    await expect(change('deleteAliases', many)).rejects.toThrow(refusal)
    await expect(link(project, artifactID, 'shelf', names)).rejects.toThrow(refusal)
    await expect(client.open({ project, name: 'b', files: {}, aliases: names })).rejects.toThrow(refusal)
    await change('addAliases', many.slice(1))
    expect(await member(project, 'a:alias 100')).toMatchObject({ artifact: { id: artifactID } })
  })

  it('200 with errors for links that cannot be', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    const model = await client.log({ project, name: 'm', type: 'model', files: { f: 'm' } })
    await link(project, id, 'shelf')
    await expect(link(project, model, 'shelf')).rejects.toThrow('has the type dataset, not model')
    await expect(link(project, id, 'a')).rejects.toThrow('has versions of its own')
    await expect(link(project, id, 'b/c')).rejects.toThrow('characters')
    await expect(client.open({ project, name: 'shelf', files: {} })).rejects.toThrow('has links to versions')
    const pending = await client.open({ project, name: 'p', files: { f: 'p' } })
    await expect(link(project, pending.id, 'shelf')).rejects.toThrow('not found')
    const input = { entityName: 'test', projectName: 'p', artifactPortfolioName: 'n', clientID: 'x' }
    await expect(client.mutate('linkArtifact', 'versionIndex', input)).rejects.toThrow('artifactID')
    await client.mutate('deleteArtifact', 'artifact { id }', { artifactID: id, deleteAliases: true })
    expect(await member(project, 'shelf:v0')).toBeNull()
    const parts = { artifactID: id, storagePath: 's', uploadID: 'u', completedParts: [] }
    await expect(
      client.mutate('completeMultipartUploadArtifact', 'digest', {
        ...parts,
        completeMultipartAction: 'Complete',
      }),
    ).rejects.toThrow('not in parts')
  })
})

describe('POST /graphql, collections', () => {
  it('200 with name, description, tags and type as they were changed', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    await link(project, id, 'shelf')
    for (const [kind, name] of [
      ['Sequence', 'a'],
      ['Portfolio', 'shelf'],
    ] as const) {
      const before = await collection(project, name)
      expect(before).toMatchObject({ description: null, updatedAt: null, tags: { edges: [] } })
      const update = (change: object) =>
        client.mutate(`updateArtifact${kind}`, 'artifactCollection { name description }', {
          [`artifact${kind}ID`]: before.id,
          ...change,
        })
      const renamed = await update({ name: `${name}2`, description: 'what it is' })
      expect(renamed.artifactCollection).toEqual({ name: `${name}2`, description: 'what it is' })
      await update({ name: `${name}2` })
      const of = nameIn(project, `${name}2`)
      const added = await client.mutate(
        'createArtifactCollectionTagAssignments',
        'tags { name tagCategoryName }',
        {
          ...of,
          tags: [{ tagName: 't' }, { tagName: 'u' }],
        },
      )
      expect(added.tags).toMatchObject([{ name: 't', tagCategoryName: null }, { name: 'u' }])
      await client.mutate('deleteArtifactCollectionTagAssignments', 'success', {
        ...of,
        tags: [{ tagName: 't' }],
      })
      expect(await collection(project, `${name}2`)).toMatchObject({
        id: before.id,
        description: 'what it is',
        updatedAt: expect.any(String),
        tags: { edges: [{ node: { name: 'u' } }] },
        artifacts: { totalCount: 1 },
      })
      expect(await collection(project, name)).toBeNull()
      await expect(update({ name: 'x/y' })).rejects.toThrow('characters')
    }
    const artifactSequenceID = (await collection(project, 'a2')).id
    await expect(
      client.mutate('updateArtifactSequence', 'artifactCollection { id }', {
        artifactSequenceID,
        name: 'shelf2',
      }),
    ).rejects.toThrow('another artifact with the name shelf2')
    const move = (destinationArtifactTypeName: string) =>
      client.mutate('moveArtifactSequence', 'artifactCollection { type: defaultArtifactType { name } }', {
        artifactSequenceID,
        destinationArtifactTypeName,
      })
    await expect(move('model')).rejects.toThrow('unlink them')
    await remove('Portfolio', (await collection(project, 'shelf2')).id)
    expect(await move('model')).toEqual({ artifactCollection: { type: { name: 'model' } } })
    await expect(move('lora')).rejects.toThrow('checkpoints')
  })

  it('200 with a portfolio deleted and its versions kept', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    await link(project, id, 'shelf', ['best'])
    const portfolio = (await collection(project, 'shelf')).id
    await expect(remove('Sequence', portfolio)).rejects.toThrow('not found')
    expect(await remove('Portfolio', portfolio)).toEqual({
      artifactCollection: { __typename: 'ArtifactPortfolio', state: 'DELETED' },
    })
    expect(await collection(project, 'shelf')).toBeNull()
    expect(await member(project, 'a:v0')).toMatchObject({ artifact: { id } })
    expect(await link(project, id, 'shelf')).toBe(0)
    expect(await member(project, 'shelf:best')).toBeNull()
  })

  it('200 with a sequence deleted with its versions, once none has an alias', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'a', files: { f: 'a' } })
    const newest = await client.log({ project, name: 'a', files: { f: 'b' } })
    await link(project, id, 'shelf', ['best'])
    await link(project, newest, 'shelf')
    const sequence = (await collection(project, 'a')).id
    await expect(remove('Sequence', sequence)).rejects.toThrow('Version v0 of a has the alias best in shelf')
    await client.mutate('deleteAliases', 'success', {
      artifactID: id,
      aliases: [{ ...nameIn(project, 'shelf'), alias: 'best' }],
    })
    const url = (await member(project, 'a:v0')).files.edges[0].node.directUrl
    await remove('Sequence', sequence)
    expect(await collection(project, 'a')).toBeNull()
    expect(await member(project, 'a:v0')).toBeNull()
    expect(await collection(project, 'shelf')).toMatchObject({ artifacts: { totalCount: 0, edges: [] } })
    expect((await client.follow(url)).status).toBe(404)
    await expect(remove('Sequence', sequence)).rejects.toThrow('not found')
    await client.log({ project, name: 'a', type: 'model', files: { f: 'new' } })
    expect(await member(project, 'a:v0')).toMatchObject({ versionIndex: 0 })
  })
})
