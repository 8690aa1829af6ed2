import { describe, expect, it } from 'vitest'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { insertVersion, putFiles } from './queries.ts'
import { sumVersions } from './removal-queries.ts'
import { newVersion } from './writer.ts'

describe('sumVersions', () => {
  it('counts the versions of more collections than a statement takes values', async () => {
    await using control = await openTestControlDb()
    const collection = {
      ...{ entity: 'test', project: 'many', type: 'dataset', kind: 'sequence' as const, tags: '[]' },
      last_version: -1,
      created_at: '2026-01-01T00:00:00Z',
    }
    await control.transaction().execute(async (tx) => {
      for (let from = 0; from < 33_000; from += 1_000) {
        const ids = Array.from({ length: 1_000 }, (_, index) => String(from + index))
        const rows = ids.map((id) => ({ ...collection, id, name: id }))
        await tx.insertInto('artifact_collections').values(rows).execute()
      }
      for (const id of ['0', '32999']) {
        const description = { digest: '', metadata: '{}', description: null, created_by: 'test' }
        const version = newVersion({ ...description, collection_id: id })
        await insertVersion(tx, version)
        await putFiles(tx, [{ artifact_id: version.id, name: 'a', md5: '', digest: '', size: 7 }])
      }
    })
    expect(await sumVersions(control, ['test/many'])).toEqual({ count: 2, bytes: 14 })
    expect(await sumVersions(control, ['test/none'])).toEqual({ count: 0, bytes: 0 })
  })
})
