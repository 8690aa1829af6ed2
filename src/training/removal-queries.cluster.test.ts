import { expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { plansOf } from '../stores/control-db/test-plans.ts'
import { deleteLostCheckpoints } from './removal-queries.ts'

it('PostgreSQL finds lost checkpoints without a search of all models and versions for each', async () => {
  await using control = await openTestControlDb()
  const [plan] = await plansOf(control, deleteLostCheckpoints)
  expect(plan).toContain('Delete on checkpoints')
  expect(plan).not.toContain('SubPlan')
})
