import { expect, it } from 'vitest'
import { createMutations } from '../../../stores/trace-db/mutations.ts'
import { replyOf, useTestServer } from '../../../testing.ts'
import { createObjectsRemoval } from './service.ts'

const server = useTestServer()

it('tells those who watch objects that they were erased with their project, or hidden with their user', async () => {
  const { traces } = server.stores
  const told: string[] = []
  const objects = { noteErased: (projectIds: Iterable<string>) => void told.push(...projectIds) }
  const mutations = createMutations(traces)
  const removal = createObjectsRemoval({ traces, mutations, objects }, async () => undefined)
  const { signal } = new AbortController()
  const project = server.newProject()
  await replyOf(await server.post('/obj/create', { obj: { project_id: project, object_id: 'o', val: 1 } }))
  await removal.eraseProjects?.([project], signal)
  expect(told).toEqual([project])

  const other = server.newProject()
  await traces.insert('objects', [{ ...ROW, project_id: other, wb_user_id: other }])
  await removal.hideUser?.({ name: other, pseudonym: 'deleted' }, signal)
  expect(told).toEqual([project, other])
})

const ROW = {
  object_id: 'o',
  digest: 'd',
  kind: 'object',
  val: '1',
  created_at: '2026-01-01T00:00:00Z',
  published_at: '2026-01-01T00:00:00Z',
}
