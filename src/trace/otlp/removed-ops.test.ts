import { expect, it } from 'vitest'
import { replyOf, useTestServer } from '../../testing.ts'
import { callsOf, exportSpans, spanOf } from './test-spans.ts'

const server = useTestServer()

it('publishes the op of a span again once it was deleted', async () => {
  const project = server.newProject()
  await exportSpans(server, project, spanOf({ name: 'step' }))
  await replyOf(await server.post('/obj/delete', { project_id: project, object_id: 'step' }))
  await exportSpans(server, project, spanOf({ name: 'step' }))
  const [call] = await callsOf(server, project)
  const { vals } = await replyOf<{ vals: unknown[] }>(
    await server.post('/refs/read_batch', { refs: [call?.['op_name']] }),
  )
  expect(vals).toMatchObject([{ weave_type: { type: 'Op' } }])
})
