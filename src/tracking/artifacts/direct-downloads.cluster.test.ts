import { describe, expect, inject, it } from 'vitest'
import { storesOnServers, useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'

const { s3, ...stores } = await storesOnServers()
const server = useTestServer({
  stores: { ...stores, s3: s3 && { ...s3, clientEndpoint: inject('servers').s3.endpoint } },
})
const client = createTestClient(server)

const LARGE = 'x'.repeat(9_000_000)

describe('GET /storage/artifact-files/{artifact_id}', () => {
  it('307 to the store for a large file, which has its bytes without a key, and 200 for a small one', async () => {
    const project = server.newProject()
    const id = await client.log({ project, name: 'data', files: { small: 'abc', large: LARGE } })
    const query = `query ($id: ID!) { artifact(id: $id) { files { edges { node { name directUrl } } } } }`
    const { data } = await client.ask(query, { id })
    const nodes: { name: string; directUrl: string }[] = data.artifact.files.edges.map(
      ({ node }: { node: unknown }) => node,
    )
    const urlOf = (name: string) => nodes.find((node) => node.name === name)?.directUrl ?? ''
    const small = await client.follow(urlOf('small'))
    expect([small.status, await small.text()]).toEqual([200, 'abc'])
    const large = await client.follow(urlOf('large'))
    expect(large.status).toBe(307)
    const location = large.headers.get('location') ?? ''
    expect(location).toMatch(inject('servers').s3.endpoint)
    expect(await (await fetch(location)).text()).toBe(LARGE)
  })
})
