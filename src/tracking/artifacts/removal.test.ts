import { expect, it } from 'vitest'
import { plainId } from '../../accounts/graphql/global-id.ts'
import { createContents } from '../../contents/service.ts'
import { useTestServer } from '../../testing.ts'
import { createTestClient } from '../test-client.ts'
import { sumOfEntity } from './queries.ts'
import { createArtifactsRemoval } from './removal.ts'
import { ownerOf } from './writer.ts'

// A server of its own: what others upload meanwhile would count, and be purged.
const server = useTestServer({})
const client = createTestClient(server)

it('purges the files of versions whose deletion failed before it released them, and no others; deleted versions take no storage of their entity', async () => {
  const { control } = server.stores
  const contents = createContents(server.stores)
  const project = server.newProject()
  const ids: string[] = []
  for (const name of ['kept', 'deleted']) {
    const id = await client.log({ project, name, files: { 'a.txt': name } })
    ids.push(plainId('Artifact', id))
  }
  const [kept = '', deleted = ''] = ids
  const before = await sumOfEntity(control, 'test')
  await control.updateTable('artifact_versions').set({ state: 'DELETED' }).where('id', '=', deleted).execute()
  expect(await sumOfEntity(control, 'test')).toBe(before - 'deleted'.length)
  const removal = createArtifactsRemoval({ control, contents })
  const purge = (at: number) => removal.purge?.(new Date(at).toISOString(), new AbortController().signal)
  await purge(Date.now() - 60_000)
  expect(await contents.ownedBy(ownerOf(deleted))).toHaveLength(1)
  // Ids rise with time, and those of tests whose clock ran ahead before this one are ahead of it.
  await purge(Date.UTC(2100, 0, 1))
  expect(await contents.ownedBy(ownerOf(deleted))).toEqual([])
  expect(await contents.ownedBy(ownerOf(kept))).toHaveLength(1)
})
