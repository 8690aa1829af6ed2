import { expect, it } from 'vitest'
import { group } from '../test-group.ts'
import { useTrainingServer } from '../use-training-server.ts'
import { insertJob, type JobRow } from './queries.ts'

const { server, newModel, postJob } = useTrainingServer()

/** The most that one entity may have of 1,000. */
const SHARE = 801

it('an entity with most of the waiting jobs gets no more of them, and others do', async () => {
  const [own, others] = [await newModel(), await newModel(undefined, { entity: 'other' })]
  const waiting: JobRow = {
    ...{ id: '', entity: own.entity, project: 'proj', model_id: own.id, base_model: 'test/base', kind: 'rl' },
    ...{ state: 'queued', config: '{}', counts: '{}', data_key: 'key', dataset_ref: null, attempts: 0 },
    ...{ source_checkpoint_id: null, checkpoint_step: null, error_message: null, created_by: 'test' },
    ...{ created_at: '2026-01-01T00:00:00Z', started_at: null, ended_at: null },
  }
  await server.stores.control.transaction().execute(async (tx) => {
    for (let job = 0; job < SHARE; job++) await insertJob(tx, { ...waiting, id: `waiting-${job}` })
  })
  const refused = await postJob(own.id, [group()])
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await refused.text()).toMatch(/801 training jobs are waiting already, 801 of them of local/)
  expect((await postJob(others.id, [group()])).status).toBe(200)
})
