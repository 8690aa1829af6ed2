import { describe, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { countModels } from './removal-queries.ts'

describe('countModels', () => {
  it('counts more models than a statement takes values, and jobs, also those of deleted models', async () => {
    await using control = await openTestControlDb()
    const created_at = '2026-01-01T00:00:00Z'
    const model = {
      ...{ entity: 'test', project: 'many', base_model: 'base', run_id: 'run', lora: '{}', last_step: 0 },
      ...{ best_metric: 'reward', best_mode: 'max' as const, created_by: 'test', created_at },
    }
    const job = {
      ...{ entity: 'test', project: 'many', base_model: 'base', kind: 'rl' as const },
      ...{ state: 'succeeded' as const, config: '{}', data_key: 'key', counts: '{}', attempts: 1 },
      ...{ created_by: 'test', created_at },
    }
    await control.transaction().execute(async (tx) => {
      for (let from = 0; from < 33_000; from += 1_000) {
        const ids = Array.from({ length: 1_000 }, (_, index) => String(from + index))
        const rows = ids.map((id) => ({ ...model, id, name: id }))
        await tx.insertInto('models').values(rows).execute()
      }
      for (const model_id of ['32999', 'deleted'])
        await tx
          .insertInto('training_jobs')
          .values({ ...job, id: model_id, model_id })
          .execute()
    })
    expect(await countModels(control, ['test/many'])).toEqual({ models: 33_000, jobs: 2 })
    expect(await countModels(control, ['test/none'])).toEqual({ models: 0, jobs: 0 })
  })
})
