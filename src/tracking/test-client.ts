import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { TestServer } from '../testing.ts'

/** Any JSON: tests read the members that they expect, and fail where these are missing. */
type Reply = ReturnType<JSON['parse']>

/** Requests of a W&B client to a server under test. */
export interface TestClient extends Uploads {
  /** The whole reply of a GraphQL request. */
  ask(query: string, variables?: Record<string, unknown>): Promise<Reply>
  /** The result of a mutation with one input. @throws when it has errors. */
  mutate(name: string, fields: string, input: Record<string, unknown>): Promise<Reply>
  /** Sends bytes to a signed URL, or reads them, without a key. */
  follow(url: string, init?: RequestInit): Promise<Response>
}

/** @param key whose requests they are; the server's own where absent */
export function createTestClient(server: Pick<TestServer, 'request'>, key?: string): TestClient {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }

  async function ask(query: string, variables: Record<string, unknown> = {}): Promise<Reply> {
    const body = JSON.stringify({ query, variables })
    const response = await server.request('/graphql', { method: 'POST', headers, body })
    expect(response.status).toBe(200)
    return response.json()
  }

  async function mutate(name: string, fields: string, input: Record<string, unknown>): Promise<Reply> {
    const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`
    const query = `mutation ($input: ${type}!) { result: ${name}(input: $input) { ${fields} } }`
    const { data, errors } = await ask(query, { input })
    if (errors !== undefined) throw new Error(errors[0].message)
    return data.result
  }

  function follow(url: string, init: RequestInit = {}): Promise<Response> {
    const { pathname, search } = new URL(url)
    return server.request(pathname + search, { ...init, headers: { authorization: '', ...init.headers } })
  }

  return { ask, mutate, follow, ...createUploads({ ask, mutate, follow }) }
}

export interface TestArtifact {
  /** `test` where absent. */
  entity?: string
  project: string
  name: string
  type?: string
  aliases?: string[]
  metadata?: string
  runName?: string
  clientID?: string
  files: Record<string, string>
}

interface Uploads {
  /** Opens a version; its id and state. */
  open(artifact: TestArtifact): Promise<{ id: string; state: string }>
  /** The URL to which one file is uploaded. */
  fileUrl(artifactID: string, name: string, text: string): Promise<string>
  /** Uploads a manifest. */
  sendManifest(artifactID: string, project: string, manifest: string): Promise<Response>
  commit(artifactID: string): Promise<Reply>
  /** The whole upload; the id of the version. */
  log(artifact: TestArtifact): Promise<string>
}

function createUploads(client: {
  ask: (query: string, variables?: Record<string, unknown>) => Promise<Reply>
  mutate: (name: string, fields: string, input: Record<string, unknown>) => Promise<Reply>
  follow: (url: string, init?: RequestInit) => Promise<Response>
}): Uploads {
  const { mutate, follow } = client

  async function open(artifact: TestArtifact): Promise<{ id: string; state: string }> {
    const { artifact: created } = await mutate('createArtifact', 'artifact { id state }', {
      entityName: artifact.entity ?? 'test',
      projectName: artifact.project.replace('test/', ''),
      artifactCollectionName: artifact.name,
      artifactTypeName: artifact.type ?? 'dataset',
      digest: digestOf(artifact.files),
      runName: artifact.runName ?? null,
      clientID: artifact.clientID ?? null,
      metadata: artifact.metadata ?? null,
      aliases: (artifact.aliases ?? []).map((alias) => ({ alias, artifactCollectionName: artifact.name })),
    })
    return created
  }

  async function fileUrl(artifactID: string, name: string, text: string): Promise<string> {
    const { files } = await mutate('createArtifactFiles', 'files { edges { node { uploadUrl } } }', {
      artifactFiles: [{ artifactID, name, md5: md5Of(text) }],
      storageLayout: 'V2',
    })
    return files.edges[0].node.uploadUrl
  }

  async function sendManifest(
    artifactID: string,
    project: string,
    manifest: string,
    entity = 'test',
  ): Promise<Response> {
    const input = { artifactID, name: 'wandb_manifest.json', entityName: entity, projectName: project }
    await mutate('createArtifactManifest', 'artifactManifest { id }', { ...input, digest: '' })
    const { artifactManifest } = await mutate(
      'createArtifactManifest',
      'artifactManifest { file { uploadUrl } }',
      {
        ...input,
        digest: md5Of(manifest),
      },
    )
    return follow(artifactManifest.file.uploadUrl, { method: 'PUT', body: manifest })
  }

  async function log(artifact: TestArtifact): Promise<string> {
    const { id, state } = await open(artifact)
    if (state === 'COMMITTED') return id
    for (const [name, text] of Object.entries(artifact.files)) {
      const sent = await follow(await fileUrl(id, name, text), { method: 'PUT', body: text })
      expect(sent.status).toBe(200)
    }
    await sendManifest(id, artifact.project, manifestOf(artifact.files), artifact.entity)
    await mutate('commitArtifact', 'artifact { id }', { artifactID: id })
    return id
  }

  return {
    open,
    fileUrl,
    sendManifest,
    commit: (artifactID) =>
      mutate('commitArtifact', 'artifact { id state versionIndex digest }', { artifactID }),
    log,
  }
}

export function md5Of(text: string): string {
  return createHash('md5').update(text).digest('base64')
}

export function manifestOf(files: Record<string, string>): string {
  const contents = Object.entries(files).map(([name, text]) => [
    name,
    { digest: md5Of(text), size: Buffer.byteLength(text) },
  ])
  return JSON.stringify({
    version: 1,
    storagePolicy: 'wandb-storage-policy-v1',
    storagePolicyConfig: { storageLayout: 'V2' },
    contents: Object.fromEntries(contents),
  })
}

export function digestOf(files: Record<string, string>): string {
  const lines = Object.entries(files).map(([name, text]) => `${name}:${md5Of(text)}\n`)
  return createHash('md5')
    .update(`wandb-artifact-manifest-v1\n${lines.sort().join('')}`)
    .digest('hex')
}
