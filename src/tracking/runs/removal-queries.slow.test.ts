import { describe, expect, it } from 'vitest'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { putFile } from './queries.ts'
import { sumRuns } from './removal-queries.ts'

describe('sumRuns', () => {
  it('counts more runs than a statement takes values, with the bytes of their files', async () => {
    await using control = await openTestControlDb()
    const now = '2026-01-01T00:00:00Z'
    const run = {
      ...{ entity: 'test', project: 'many', display_name: '', tags: '[]', config: '{}', summary: '{}' },
      ...{ state: 'finished' as const, history_lines: 0, system_lines: 0, log_lines: 0, last_step: -1 },
      ...{ created_by: 'test', created_at: now, heartbeat_at: now },
    }
    const file = { name: 'output.log', digest: '', md5: '', size: 7, owner: '', updated_at: now }
    await control.transaction().execute(async (tx) => {
      for (let from = 0; from < 33_000; from += 1_000) {
        const ids = Array.from({ length: 1_000 }, (_, index) => String(from + index))
        const rows = ids.map((id) => ({ ...run, id, name: id }))
        await tx.insertInto('runs').values(rows).execute()
      }
      for (const id of ['0', '32999']) await putFile(tx, { ...file, run_id: id })
    })
    expect(await sumRuns(control, ['test/many'])).toEqual({ count: 33_000, bytes: 14 })
    expect(await sumRuns(control, ['test/none'])).toEqual({ count: 0, bytes: 0 })
  })
})
