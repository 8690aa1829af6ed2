import { describe, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { plansOf } from '../stores/control-db/test-plans.ts'
import { addOwner, insertContent, ownersBelow, removeOwners } from './queries.ts'

describe('queries of contents on PostgreSQL', () => {
  it('search no list for each row', async () => {
    await using control = await openTestControlDb()
    await insertContent(control, { digest: 'a', md5: '', size: 0, blob_key: 'contents/a' })
    await addOwner(control, 'run-file:1', ['a'])
    const plans = await plansOf(control, async (recorded) => {
      const except = control.selectFrom('runs').select('id')
      expect(await ownersBelow(recorded, { prefix: 'run-file:', id: '2', except })).toEqual(['run-file:1'])
      expect(await removeOwners(recorded, ['run-file:1'])).toEqual(['contents/a'])
    })
    expect(plans).toHaveLength(3)
    for (const plan of plans) expect(plan).not.toContain('SubPlan')
  })
})
