import { expect, it } from 'vitest'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { plansOf } from '../../stores/control-db/test-plans.ts'
import { markLeftBehind } from './queries.ts'

it('PostgreSQL finds checkpoints of deleted models without a search of all models for each', async () => {
  await using control = await openTestControlDb()
  const [plan] = await plansOf(control, (recorded) => markLeftBehind(recorded, '2026-01-01T00:00:00Z'))
  expect(plan).toContain('Update on checkpoints')
  expect(plan).not.toContain('SubPlan')
})
