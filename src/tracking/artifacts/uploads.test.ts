import type { KyselyPlugin } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { ALL_RIGHTS } from '../../access.ts'
import { plainId } from '../../accounts/graphql/global-id.ts'
import { createProjects } from '../../accounts/projects.ts'
import { createContents } from '../../contents/service.ts'
import { invalidRequest } from '../../errors.ts'
import { useTestServer } from '../../testing.ts'
import { createSignedUrls } from '../signed-urls.ts'
import { createTestClient, digestOf, manifestOf, md5Of } from '../test-client.ts'
import { manifestText } from './manifest.ts'
import { type Artifacts, createArtifacts } from './service.ts'

const server = useTestServer()
const client = createTestClient(server)

async function contentsCount(): Promise<number> {
  const rows = await server.stores.control.selectFrom('contents').select('digest').execute()
  return rows.length
}

function put(url: string, body: string): Promise<Response> {
  return client.follow(url, { method: 'PUT', body })
}

describe('PUT /storage/artifact-files/{artifact_id}', () => {
  it('200 each time it is sent, and the file is there once', async () => {
    const project = server.newProject()
    const { id } = await client.open({ project, name: 'data', files: { 'a b/ü?.txt': 'x' } })
    const url = await client.fileUrl(id, 'a b/ü?.txt', 'x')
    expect(new URL(url).origin).toBe('http://localhost')
    for (let times = 0; times < 2; times++) expect((await put(url, 'x')).status).toBe(200)
    await client.sendManifest(id, project, manifestOf({ 'a b/ü?.txt': 'x' }))
    const committed = { artifact: { state: 'COMMITTED', versionIndex: 0 } }
    const both = await Promise.all([client.commit(id), client.commit(id)])
    expect([...both, await client.commit(id)]).toMatchObject([committed, committed, committed])
    expect((await put(url, 'x')).status).toBe(409)
  })

  it('400 for other bytes than announced, which are not kept', async () => {
    const project = server.newProject()
    const { id } = await client.open({ project, name: 'data', files: {} })
    const before = await contentsCount()
    const response = await put(await client.fileUrl(id, 'a', 'right'), 'wrong')
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ detail: expect.stringContaining('not') })
    expect(await contentsCount()).toBe(before)
  })

  it('499 for an upload that breaks off, which is not kept', async () => {
    const { id } = await client.open({ project: server.newProject(), name: 'data', files: {} })
    const url = await client.fileUrl(id, 'a', 'never')
    const before = await contentsCount()
    const gone = new AbortController()
    const breaking = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('half')),
      pull(controller) {
        gone.abort()
        controller.error(new Error('The client has gone'))
      },
    })
    const init = { method: 'PUT', body: breaking, duplex: 'half', signal: gone.signal }
    expect((await client.follow(url, init as RequestInit)).status).toBe(499)
    expect(await contentsCount()).toBe(before)
    const owners = await server.stores.control.selectFrom('content_owners').select('owner').execute()
    expect(owners.filter(({ owner }) => owner.startsWith('receiving:'))).toEqual([])
  })

  it('403 for another file, method, signature or none, and after the URL has expired', async () => {
    const project = server.newProject()
    const { id } = await client.open({ project, name: 'data', files: {} })
    const other = await client.open({ project, name: 'other', files: {} })
    const url = await client.fileUrl(id, 'a', 'x')
    const path = (global: string) => Buffer.from(global, 'base64').toString().slice('Artifact:'.length)
    for (const changed of [
      url.replace('name=a', 'name=b'),
      url.replace(path(id), path(other.id)),
      url.replace(/signature=[^&]{3}/, 'signature=AAA'),
      url.replace(/signature=.*/, 'signature='),
      url.replace(/expires=\d+/, 'expires=99999999999'),
      expired(path(id), 'a'),
    ]) {
      const response = await put(changed, 'x')
      expect([changed, response.status]).toEqual([changed, 403])
    }
    expect((await client.follow(url)).status).toBe(403)
    expect((await put(url.replace(/&expires.*/, ''), 'x')).status).toBe(422)
  })

  function expired(id: string, name: string): string {
    const text = JSON.stringify(['PUT', 'artifact-files', id, name, 1])
    const signature = Buffer.from(server.stores.secretKey.hash('signed-urls', text), 'hex').toString(
      'base64url',
    )
    return `http://localhost/storage/artifact-files/${id}?name=${name}&expires=1&signature=${signature}`
  }
})

describe('PUT /storage/artifact-manifests/{artifact_id}', () => {
  it('413 for too large a manifest, which is not kept', async () => {
    const { id } = await client.open({ project: server.newProject(), name: 'data', files: {} })
    const before = await contentsCount()
    const response = await client.sendManifest(id, 'p', ' '.repeat(64 * 1024 * 1024 + 1))
    expect(response.status).toBe(413)
    expect(await contentsCount()).toBe(before)
  })
})

describe('POST /graphql, createArtifactManifest', () => {
  it('200 keeps an uploaded manifest that is announced again, and asks for another one anew', async () => {
    const project = server.newProject()
    const { id: artifactID } = await client.open({ project, name: 'data', files: {} })
    const announce = (digest: string) =>
      client.mutate('createArtifactManifest', 'artifactManifest { id }', {
        ...{ artifactID, name: 'wandb_manifest.json', entityName: 'test', projectName: 'p', digest },
      })
    await client.sendManifest(artifactID, project, manifestOf({}))
    await announce(md5Of('another'))
    await expect(client.commit(artifactID)).rejects.toThrow('manifest of the artifact has not been uploaded')
    await client.sendManifest(artifactID, project, manifestOf({}))
    await announce(md5Of(manifestOf({})))
    expect(await client.commit(artifactID)).toMatchObject({ artifact: { state: 'COMMITTED' } })
  })
})

describe('GET /storage/artifact-files/{artifact_id} and /storage/artifact-manifests/{artifact_id}', () => {
  it('200 with all, 206 with a range, 416 beyond the end, 404 once it is deleted', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'data', files: { a: '0123456789' } })
    const { data } = await client.ask(
      `query { artifact(id: "${id}") { files { edges { node { directUrl } } } currentManifest { file { directUrl } } } }`,
    )
    const url = data.artifact.files.edges[0].node.directUrl
    for (const [range, status, text] of [
      ['bytes=2-4', 206, '234'],
      ['bytes=7-', 206, '789'],
      ['bytes=-2', 206, '89'],
      ['bytes=0-99', 206, '0123456789'],
      ['bytes=10-', 416, ''],
      ['nonsense', 200, '0123456789'],
    ] as const) {
      const response = await client.follow(url, { headers: { range } })
      expect([range, response.status, await response.text()]).toEqual([range, status, text])
    }
    const manifest = data.artifact.currentManifest.file.directUrl
    expect(await (await client.follow(manifest)).json()).toMatchObject({
      version: 1,
      storagePolicyConfig: { storageLayout: 'V2' },
      contents: { a: { digest: md5Of('0123456789'), size: 10, birthArtifactID: id } },
    })
    await client.mutate('deleteArtifact', 'artifact { id }', { artifactID: id, deleteAliases: true })
    for (const gone of [url, manifest]) expect((await client.follow(gone)).status).toBe(404)
  })
})

describe('POST /graphql, commitArtifact', () => {
  it.each([
    ['a file is missing', manifestOf({ a: 'x', b: 'y' }), 'b has not been uploaded'],
    ['a file is another one', manifestOf({ a: 'z' }), 'a has not been uploaded'],
    ['it is no manifest', '{"version":2}', 'shape'],
    ['it is large and no manifest', ' '.repeat(100_000), 'shape'],
    ['it is no JSON', 'x', 'shape'],
    [
      'a reference is too long',
      JSON.stringify({ version: 1, contents: { r: { digest: 'd', ref: `s3://${'x'.repeat(5000)}` } } }),
      'The reference r, its digest and its extra have 4096 characters each at most',
    ],
    [
      'a file is said to come from an unknown version',
      '{"version":1,"contents":{"r":{"digest":"d","birthArtifactID":"QXJ0aWZhY3Q6eA=="}}}',
      'r has not been uploaded',
    ],
  ])('200 with errors when %s, and the version stays uncommitted', async (_name, manifest, message) => {
    const project = server.newProject()
    const { id } = await client.open({ project, name: 'data', files: { a: 'x' } })
    expect((await put(await client.fileUrl(id, 'a', 'x'), 'x')).status).toBe(200)
    await expect(client.commit(id)).rejects.toThrow('manifest of the artifact has not been uploaded')
    expect((await client.sendManifest(id, project, manifest)).status).toBe(200)
    await expect(client.commit(id)).rejects.toThrow(message)
    const { data } = await client.ask(`query { artifact(id: "${id}") { state versionIndex } }`)
    expect(data.artifact).toEqual({ state: 'PENDING', versionIndex: null })
  })

  it('200 for a draft of a version, whose files need no second upload', async () => {
    const project = server.newProject()
    const base = await client.log({ project, name: 'data', files: { a: 'x' } })
    const { id } = await client.open({ project, name: 'data', files: { a: 'x', b: 'y' } })
    await put(await client.fileUrl(id, 'b', 'y'), 'y')
    const manifest = JSON.parse(manifestOf({ a: 'x', b: 'y' })) as { contents: Record<string, object> }
    manifest.contents['a'] = { ...manifest.contents['a'], birthArtifactID: base }
    await client.sendManifest(id, project, JSON.stringify(manifest))
    expect(await client.commit(id)).toMatchObject({ artifact: { digest: digestOf({ a: 'x', b: 'y' }) } })
    await client.mutate('deleteArtifact', 'artifact { id }', { artifactID: base, deleteAliases: true })
    const { data } = await client.ask(
      `query { artifact(id: "${id}") { files { edges { node { name directUrl } } } } }`,
    )
    const texts = data.artifact.files.edges.map(async ({ node }: { node: { directUrl: string } }) =>
      (await client.follow(node.directUrl)).text(),
    )
    expect(await Promise.all(texts)).toEqual(['x', 'y'])
  })
})

describe('createArtifacts', () => {
  let artifacts: Artifacts
  let contents: ReturnType<typeof createContents>
  beforeAll(() => {
    const { control, blobs } = server.stores
    contents = createContents({ control, blobs })
    const signedUrls = createSignedUrls(server.stores)
    artifacts = createArtifacts({ control, contents, projects: createProjects({ control }), signedUrls })
  })

  async function publish(name: string, text: string, aliases: string[] = []) {
    const content = await contents.add('checkpoint:x', oneChunk(text), { bytesMax: 100 })
    const publication = {
      entity: 'test',
      project: 'published',
      name,
      type: 'lora',
      aliases,
      metadata: { step: 1 },
      files: [{ name: 'adapter', ...content }],
      created_by: 'local',
    }
    return server.stores.control.transaction().execute((tx) => artifacts.publish(tx, publication))
  }

  it('commits a draft of many files with as many statements as one of few', async () => {
    let statements = 0
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        statements++
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const control = server.stores.control.withPlugin(counting)
    const deps = { control, contents, projects: createProjects({ control }) }
    const counted = createArtifacts({ ...deps, signedUrls: createSignedUrls(server.stores) })
    const project = server.newProject()

    async function statementsFor(count: number): Promise<number> {
      const names = Array.from({ length: count }, (_, index) => `f${index}`)
      const content = await contents.add('checkpoint:x', oneChunk('x'), { bytesMax: 100 })
      const publication = {
        ...{ entity: 'test', project: project.slice(5), name: `data${count}`, type: 'dataset', aliases: [] },
        ...{ metadata: {}, files: names.map((name) => ({ name, ...content })), created_by: 'local' },
      }
      const base = await control.transaction().execute((tx) => artifacts.publish(tx, publication))
      const { id } = await client.open({ project, name: `data${count}`, files: { other: 'y' } })
      const pages = ReadableStream.from([publication.files])
      const manifest = (await Array.fromAsync(manifestText(base.id, pages))).join('')
      expect((await client.sendManifest(id, project, manifest)).status).toBe(200)
      statements = 0
      await counted.commit(plainId('Artifact', id), ALL_RIGHTS)
      return statements
    }

    expect(await statementsFor(200)).toBe(await statementsFor(2))
  })

  it('publishes, resolves by any name, and keeps the bytes as long as a version needs them', async () => {
    const first = await publish('m', 'zero', ['step0', 'latest'])
    const second = await publish('m', 'one', ['step1'])
    expect([first.version, second.version]).toEqual([0, 1])
    const named = { entity: 'test', project: 'published', name: 'm' }
    for (const [alias, id] of [
      ['latest', second.id],
      ['v0', first.id],
      ['step1', second.id],
      ['v2', undefined],
      ['other', undefined],
    ] as const) {
      expect((await artifacts.resolve({ ...named, type: 'lora', alias }))?.id).toBe(id)
    }
    expect(await artifacts.resolve({ ...named, type: 'dataset', alias: 'latest' })).toBeUndefined()
    expect(await artifacts.resolve({ ...named, alias: 'latest' })).toMatchObject({
      type: 'lora',
      version: 1,
      aliases: ['latest', 'step1'],
      metadata: { step: 1 },
      files: [{ name: 'adapter', size: 3, md5: md5Of('one') }],
    })

    await artifacts.setAliases(first.id, [{ alias: 'step1' }])
    await artifacts.removeAliases(first.id, [{ alias: 'step0' }])
    expect(await artifacts.aliasesOf([first.id, second.id, 'unknown'])).toEqual(
      new Map([
        [first.id, ['step1']],
        [second.id, ['latest']],
        ['unknown', []],
      ]),
    )
    await contents.release(['checkpoint:x'])
    const digest = (await artifacts.resolve({ ...named, alias: 'v0' }))?.files[0]?.digest ?? ''
    expect(await contents.read(digest)).toBeDefined()
    for (let times = 0; times < 2; times++) await artifacts.removeVersions([first.id])
    expect(await contents.read(digest)).toBeUndefined()
    expect(await artifacts.resolve({ ...named, alias: 'step1' })).toBeUndefined()
    await expect(artifacts.setAliases(first.id, [{ alias: 'x' }])).rejects.toThrow('not found')
  })

  it('publishes nothing when the transaction fails, nor under the name of another type', async () => {
    await publish('t', 'x')
    await expect(
      server.stores.control.transaction().execute(async (tx) => {
        const common = { entity: 'test', project: 'published', metadata: {}, files: [], created_by: 'local' }
        await artifacts.publish(tx, { ...common, name: 'u', type: 'lora', aliases: [] })
        await artifacts.publish(tx, { ...common, name: 't', type: 'dataset', aliases: [] })
      }),
    ).rejects.toThrow('has the type lora')
    expect(
      await artifacts.resolve({ entity: 'test', project: 'published', name: 'u', alias: 'v0' }),
    ).toBeUndefined()
  })

  it('has a hook see what clients commit, and refuse it', async () => {
    const project = server.newProject()
    const seen: unknown[] = []
    artifacts.onCommit('hooked', async (version) => {
      seen.push(version)
      if (version.metadata['refuse'] === true) throw invalidRequest('No such step')
    })
    const draft = { project, name: 'm', type: 'hooked', files: { a: 'x' } }
    const upload = async (metadata: string) => {
      const { id } = await client.open({ ...draft, metadata, aliases: ['step3', 'latest'] })
      await put(await client.fileUrl(id, 'a', 'x'), 'x')
      await client.sendManifest(id, project, manifestOf(draft.files))
      return Buffer.from(id, 'base64').toString().slice('Artifact:'.length)
    }
    const refused = await upload('{"refuse":true}')
    await expect(artifacts.commit(refused, ALL_RIGHTS)).rejects.toThrow('No such step')
    expect((await artifacts.version(refused))?.state).toBe('PENDING')
    await artifacts.commit(await upload('{}'), ALL_RIGHTS)
    expect(seen.at(-1)).toMatchObject({
      entity: 'test',
      project: project.slice(5),
      name: 'm',
      version: 0,
      aliases: ['latest', 'step3'],
      files: [{ name: 'a', size: 1 }],
      created_by: 'local',
    })
    const again = {
      entity: 'test',
      project: project.slice(5),
      name: 'm',
      type: 'hooked',
      digest: digestOf(draft.files),
    }
    const id = await artifacts.create({
      ...again,
      aliases: [],
      metadata: '{}',
      description: null,
      tags: [],
      run_id: null,
      client_id: null,
      created_by: 'local',
    })
    expect((await artifacts.version(id))?.state).toBe('PENDING')
  })
})

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}
