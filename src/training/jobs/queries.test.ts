import { expect, it } from 'vitest'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { insertJob, type JobRow, jobsOfModel, listJobs, openJobs } from './queries.ts'

it('lists of jobs are read without the settings, which may be 20 MB of learning rates each', async () => {
  await using control = await openTestControlDb()
  const job: JobRow = {
    ...{ entity: 'test', project: 'jobs' },
    ...{ id: 'job', model_id: 'model', base_model: 'base', kind: 'sft', state: 'queued', config: '{}' },
    ...{
      data_key: 'key',
      dataset_ref: null,
      counts: '{}',
      source_checkpoint_id: null,
      checkpoint_step: null,
    },
    ...{ attempts: 0, error_message: null, created_by: 'test', created_at: '2026-01-01T00:00:00Z' },
    ...{ started_at: null, ended_at: null },
  }
  await insertJob(control, job)
  const { config: _, ...listed } = job
  const page = { model_id: undefined, state: undefined, beforeId: undefined, limit: 2 }
  const within = { entities: 'all', project: undefined } as const
  expect(await listJobs(control, { ...page, within })).toEqual([listed])
  expect(await jobsOfModel(control, 'model')).toEqual([listed])
  expect(await openJobs(control)).toEqual([listed])
})
