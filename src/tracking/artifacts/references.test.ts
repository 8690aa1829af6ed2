import { describe, expect, it } from 'vitest'
import { useTestServer } from '../../testing.ts'
import { createTestClient, md5Of } from '../test-client.ts'

const server = useTestServer()
const client = createTestClient(server)

describe('POST /graphql, commitArtifact', () => {
  it('200 with references beside files, which the manifest, the files and the list of versions have again', async () => {
    const project = server.newProject()
    const { id } = await client.open({ project, name: 'data', files: { a: 'x' } })
    await client.follow(await client.fileUrl(id, 'a', 'x'), { method: 'PUT', body: 'x' })
    const reference = { digest: 'etag', size: 5, ref: 's3://bucket/r', extra: { versionID: '1.0', n: 1.5 } }
    const plain = { digest: 'https://example.org/', ref: 'https://example.org/' }
    const a = { digest: md5Of('x'), size: 1 }
    const manifest = JSON.stringify({ version: 1, contents: { a, r: reference, s: plain } })
    await client.sendManifest(id, project, manifest)
    await client.commit(id)
    const { data } = await client.ask(`query { artifact(id: "${id}") { size fileCount
      files { edges { node { name sizeBytes md5 directUrl } } } currentManifest { file { directUrl } } } }`)
    const { size, fileCount, files, currentManifest } = data.artifact
    expect({ size, fileCount }).toEqual({ size: 6, fileCount: 3 })
    expect(files.edges.slice(1)).toEqual([
      { node: { name: 'r', sizeBytes: 5, md5: 'etag', directUrl: 's3://bucket/r' } },
      { node: { name: 's', sizeBytes: 0, md5: plain.digest, directUrl: plain.ref } },
    ])
    const read = await (await client.follow(currentManifest.file.directUrl)).json()
    expect(read).toMatchObject({
      contents: { a: { ...a, birthArtifactID: id }, r: reference, s: { ...plain, size: 0, extra: {} } },
    })
    const listed = await server.request(`/v1/preview/artifacts?entity=test&project=${project.slice(5)}`)
    expect(await listed.json()).toMatchObject({
      data: [
        { size: 6, files: [{ reference: null }, { reference: 's3://bucket/r' }, { reference: plain.ref }] },
      ],
    })
    // A draft of it has the references again, and the file without its bytes.
    const draft = await client.open({ project, name: 'data', files: { other: 'y' } })
    await client.sendManifest(draft.id, project, JSON.stringify(read))
    expect(await client.commit(draft.id)).toMatchObject({ artifact: { state: 'COMMITTED' } })
  })
})
