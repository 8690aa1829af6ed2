import { expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { createRunClient } from '../../tracking/runs/run-client.ts'
import { createTestClient } from '../../tracking/test-client.ts'
import { group } from '../test-group.ts'
import { json, useTrainingServer } from '../use-training-server.ts'

const { server, newModel, startJob, end } = useTrainingServer()
const { start, runOf } = createRunClient(server, createTestClient(server))

const LINE = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'

it('the metrics of an SFT job are in the run of its model also where the server ended before it logged them', async () => {
  const model = await newModel(undefined, { entity: 'test' })
  const project = 'test/proj'
  const upload = { method: 'POST', body: LINE }
  const { training_data_url } = await json<{ training_data_url: string }>(
    await server.request('/v1/preview/training-data', upload),
  )
  const config = { metric_logging: { enabled: true } }
  const { id } = await json<{ id: string }>(
    await server.post('/v1/preview/sft-training-jobs', { model_id: model.id, training_data_url, config }),
  )
  await end(id)

  // There was no run to log to. A server that is killed here leaves the job of the queue active, and the next one takes
  // it.
  await start(project, model.name)
  await eventually(async () => expect((await queueJob(id))?.state).toBe('completed'))
  await server.stores.control
    .updateTable('jobs')
    .set({ state: 'waiting', finished_at: null })
    .where('id', '=', id)
    .execute()
  await end(await startJob((await newModel()).id, [group()]))
  await eventually(async () =>
    expect((await runOf(project, model.name, 'historyLineCount')).historyLineCount).toBe(2),
  )
})

const queueJob = (id: string) =>
  server.stores.control.selectFrom('jobs').select('state').where('id', '=', id).executeTakeFirst()
