import { beforeAll, describe, expect, it } from 'vitest'
import { createTestAccounts } from '../../accounts/test-accounts.ts'
import { useTestServer } from '../../testing.ts'
import { createTestClient, manifestOf, md5Of, type TestClient } from '../test-client.ts'

const ENTITY = 'weavers'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

/** A member of the team, with a key for all of it. */
let member: TestClient
/** The same member's key for `weavers/loom` alone. */
let narrow: TestClient
let narrowKey: string
/** Someone who is not of the team. */
let stranger: TestClient

beforeAll(async () => {
  const anna = await accounts.newUser('anna')
  await (await accounts.operator()).post('/v1/accounts/teams', { name: ENTITY, admin: 'anna' })
  const made = await anna.post('/v1/accounts/keys', { name: 'narrow', project_id: `${ENTITY}/loom` })
  const { key } = (await made.json()) as { key: string }
  member = createTestClient(server, anna.key)
  narrow = createTestClient(server, key)
  narrowKey = key
  stranger = createTestClient(server, (await accounts.newUser('sten')).key)
})

function log(project: string, name: string, text: string = name): Promise<string> {
  return member.log({ entity: ENTITY, project, name, files: { f: text } })
}

const LINKED = 'artifactMembership { artifactCollection { id name project { name entityName } } }'

async function link(client: TestClient, input: Record<string, unknown>) {
  const { artifactMembership } = await client.mutate('linkArtifact', LINKED, input)
  return artifactMembership.artifactCollection
}

function inTeam(project: string, artifactPortfolioName: string) {
  return { entityName: ENTITY, projectName: project, artifactPortfolioName }
}

describe('POST /graphql, linkArtifact', () => {
  it("200 with an error for another team's portfolio by its names beside an own one by its id", async () => {
    const theirs = await log('loom', 'released')
    const aliases = [{ artifactCollectionName: 'release', alias: 'production' }]
    const release = inTeam('loom', 'release')
    await link(member, { artifactID: theirs, ...release, aliases })
    const artifactID = await stranger.log({ entity: 'sten', project: 'p', name: 'a', files: { f: 'bad' } })
    const own = { entityName: 'sten', projectName: 'p', artifactPortfolioName: 'own' }
    const { id: artifactPortfolioID } = await link(stranger, { artifactID, ...own })

    await expect(link(stranger, { artifactID, artifactPortfolioID, ...release, aliases })).rejects.toThrow(
      'This key may not change weavers/loom',
    )
    const query = `query { project(name: "loom", entityName: "${ENTITY}") {
      artifact(name: "release:production") { id } artifactCollection(name: "release") { artifacts { totalCount } } } }`
    expect((await member.ask(query)).data.project).toEqual({
      artifact: { id: theirs },
      artifactCollection: { artifacts: { totalCount: 1 } },
    })
  })

  it('200 with the portfolio of the names, or without all of them that of the id', async () => {
    const artifactID = await log('loom', 'twice')
    const first = await link(member, { artifactID, ...inTeam('loom', 'first') })
    const second = await link(member, { artifactID, ...inTeam('loom', 'second') })
    const byId = { artifactID, artifactPortfolioID: first.id }
    expect(await link(narrow, byId)).toEqual(first)
    expect(await link(narrow, { ...byId, artifactPortfolioName: 'second' })).toEqual(first)
    expect(await link(narrow, { ...byId, ...inTeam('loom', 'second') })).toEqual(second)
    const elsewhere = await link(member, { artifactID, ...inTeam('attic', 'shelf') })
    const names = { entityName: ENTITY, projectName: 'loom' }
    await expect(link(narrow, { artifactID, ...names, artifactPortfolioID: elsewhere.id })).rejects.toThrow(
      'not found',
    )
    await expect(link(narrow, { artifactID, ...names })).rejects.toThrow('A link needs')
  })
})

describe('POST /graphql, commitArtifact', () => {
  it('200 with an error for files of a version in a project that the key may not read', async () => {
    const files = { f: 'secret bytes' }
    const birth = await log('attic', 'secret', files.f)
    const draftOf = async (client: TestClient, name: string, birthArtifactID: string) => {
      const { id } = await client.open({ entity: ENTITY, project: 'loom', name, files })
      const manifest = JSON.parse(manifestOf(files)) as { contents: Record<string, object> }
      manifest.contents['f'] = { ...manifest.contents['f'], birthArtifactID }
      await client.sendManifest(id, 'loom', JSON.stringify(manifest))
      return id
    }
    const copied = await draftOf(narrow, 'copied', birth)
    await expect(narrow.commit(copied)).rejects.toThrow('The file f has not been uploaded')
    expect(await member.commit(copied)).toMatchObject({ artifact: { state: 'COMMITTED' } })
    const again = await draftOf(narrow, 'again', copied)
    expect(await narrow.commit(again)).toMatchObject({ artifact: { state: 'COMMITTED' } })
  })
})

describe('GET /artifactsV2/{region}/{entity}/{project}/{collection}/{birth_artifact_id}/{md5_hex}/{name}', () => {
  it('200 with the bytes for a key that may read the version, 404 for another', async () => {
    for (const [project, status] of [
      ['loom', 200],
      ['attic', 404],
    ] as const) {
      const id = encodeURIComponent(await log(project, 'layout', 'text'))
      const md5 = Buffer.from(md5Of('text'), 'base64').toString('hex')
      const path = `/artifactsV2/default/${ENTITY}/loom/layout/${id}/${md5}/f`
      const sent = await server.request(path, { headers: { authorization: `Bearer ${narrowKey}` } })
      expect(sent.status).toBe(status)
    }
  })
})

const PAGE = 'totalCount pageInfo { hasNextPage endCursor } edges { node { id } }'

describe('POST /graphql, versions of several projects', () => {
  /** All pages of one item, each with the total. */
  async function pagesOf(client: TestClient, ask: (page: string) => string) {
    const found: { total: number; ids: string[] }[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page: string = `first: 1${after && `, after: "${after}"`}`
      const { data } = await client.ask(
        `query { project(name: "loom", entityName: "${ENTITY}") { ${ask(page)} } }`,
      )
      const { list } = data.project.of
      found.push({
        total: list.totalCount,
        ids: list.edges.map(({ node }: { node: { id: string } }) => node.id),
      })
      after = list.pageInfo.hasNextPage ? list.pageInfo.endCursor : null
    }
    return found
  }

  function pages(ids: string[]) {
    return ids.map((id) => ({ total: ids.length, ids: [id] }))
  }

  it('200 with all used and linked versions that the key may read, and their number', async () => {
    const run = { entityName: ENTITY, projectName: 'loom', runName: 'run' }
    await member.mutate('upsertBucket', 'inserted', { entityName: ENTITY, modelName: 'loom', name: 'run' })
    const ids: Record<string, string> = {}
    for (const name of ['hidden-a', 'seen-a', 'hidden-b', 'seen-b', 'hidden-c']) {
      const artifactID = await log(name.startsWith('seen') ? 'loom' : 'attic', name)
      ids[name] = artifactID
      await member.mutate('useArtifact', 'artifact { id }', { ...run, artifactID })
      await link(member, { artifactID, ...inTeam('loom', 'mixed') })
    }
    const seen = Object.keys(ids).filter((name) => name.startsWith('seen'))
    const used = (page: string) => `of: run(name: "run") { list: inputArtifacts(${page}) { ${PAGE} } }`
    expect(await pagesOf(member, used)).toEqual(pages(Object.values(ids)))
    expect(await pagesOf(narrow, used)).toEqual(pages(seen.map((name) => ids[name] ?? '')))
    const linked = (page: string) =>
      `of: artifactCollection(name: "mixed") { list: artifacts(order: "+createdAt", ${page}) { ${PAGE} } }`
    expect(await pagesOf(member, linked)).toEqual(pages(Object.values(ids)))
    expect(await pagesOf(narrow, linked)).toEqual(pages(seen.map((name) => ids[name] ?? '')))
  })

  it('200 with the number of collections and of files, however small the page is', async () => {
    const files = { a: '1', b: '2', c: '3' }
    const project = { entity: ENTITY, project: 'counted' }
    for (const name of ['one', 'two']) await member.log({ ...project, name, files })
    await member.log({ ...project, name: 'three', type: 'model', files })
    const { data } = await member.ask(`query { project(name: "counted", entityName: "${ENTITY}") {
      all: artifactCollections(first: 1) { totalCount edges { node { name } } }
      type: artifactType(name: "dataset") { of: artifactCollections(first: 1) { totalCount } }
      artifact(name: "one") { every: files(first: 1) { totalCount } some: files(first: 1, names: ["a", "b", "c", "d"]) { totalCount } }
    } }`)
    expect(data.project).toEqual({
      all: { totalCount: 3, edges: [{ node: { name: 'one' } }] },
      type: { of: { totalCount: 2 } },
      artifact: { every: { totalCount: 3 }, some: { totalCount: 3 } },
    })
  })
})
