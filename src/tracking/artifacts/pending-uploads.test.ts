import { describe, expect, it, vi } from 'vitest'
import { globalId, plainId } from '../../accounts/graphql/global-id.ts'
import { createProjects } from '../../accounts/projects.ts'
import { createContents } from '../../contents/service.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { useTestServer } from '../../testing.ts'
import { createSignedUrls } from '../signed-urls.ts'
import { createTestClient } from '../test-client.ts'
import { createArtifacts } from './service.ts'
import { createUploads, type UploadsDeps } from './uploads.ts'

const server = useTestServer()
const client = createTestClient(server)

/** The services over a view of the control database. */
function depsOn(control: ControlDb): UploadsDeps {
  const contents = createContents({ control, blobs: server.stores.blobs })
  const signedUrls = createSignedUrls(server.stores)
  return { control, contents, projects: createProjects({ control }), signedUrls, isWatched: () => false }
}

async function contentsCount(): Promise<number> {
  const rows = await server.stores.control.selectFrom('contents').select('digest').execute()
  return rows.length
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

describe('versions that are not committed yet', () => {
  it('are removed with their bytes once nothing came for long, and no others', async () => {
    const deps = depsOn(server.stores.control)
    const artifacts = createArtifacts(deps)
    const project = server.newProject()
    const open = async (name: string): Promise<string> =>
      plainId('Artifact', (await client.open({ project, name, files: {} })).id)
    const sendFile = async (id: string, body: string): Promise<void> => {
      const url = await client.fileUrl(globalId('Artifact', id), 'a', body)
      expect((await client.follow(url, { method: 'PUT', body })).status).toBe(200)
    }
    const old = await open('old')
    const fresh = await open('fresh')
    const busy = await open('busy')
    const whole = plainId('Artifact', await client.log({ project, name: 'whole', files: { a: 'whole' } }))
    await sendFile(old, 'kept?')
    const longAgo = '2020-01-01T00:00:00.000000Z'
    await server.stores.control
      .updateTable('artifact_versions')
      .set({ created_at: longAgo, updated_at: longAgo })
      .where('id', 'in', [old, busy, whole])
      .execute()
    await sendFile(busy, 'slow')
    const before = await contentsCount()
    await deps.contents.add('receiving:00000000', oneChunk('lost'), { bytesMax: 10 })
    await artifacts.cleanUp(Date.now())
    expect(await contentsCount()).toBe(before - 1)
    const states = [old, fresh, busy, whole].map(async (id) => (await artifacts.version(id))?.state)
    expect(await Promise.all(states)).toEqual(['DELETED', 'PENDING', 'PENDING', 'COMMITTED'])
  })

  it('are changed by the statement or in the transaction that reads their state: a commit may come at any time', async () => {
    const control: ControlDb = server.stores.control.withTables()
    vi.spyOn(control, 'selectFrom').mockImplementation(() => {
      throw new Error('This may have changed before the next statement')
    })
    const uploads = createUploads(depsOn(control))
    const { id: global } = await client.open({ project: server.newProject(), name: 'data', files: {} })
    const id = plainId('Artifact', global)
    const twice = ['x', 'y'].map((md5) => ({ name: 'a', md5 }))
    await uploads.announceFiles(id, twice)
    await uploads.announceManifest(id, 'z')
    await uploads.removeAbandoned()
    const files = await server.stores.control
      .selectFrom('artifact_files')
      .select(['name', 'md5'])
      .where('artifact_id', '=', id)
      .execute()
    expect(files).toEqual([{ name: 'a', md5: 'y' }])
  })
})
