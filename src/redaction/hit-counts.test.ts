import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { SILENT } from '../test-log.ts'
import { createHitCounts } from './hit-counts.ts'
import { listHits, putRules } from './queries.ts'
import { createRedactionRemoval } from './removal.ts'
import type { Rule } from './wire.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

const RULE: Rule = { name: 'mails', match: 'builtin', builtin: 'email', action: 'mask' }

const setRule = (project_id: string): Promise<void> =>
  control.transaction().execute((tx) => {
    const row = { project_id, rules: JSON.stringify([RULE]), updated_at: '' }
    return putRules(tx, row, [RULE.name])
  })

const hitsOf = async (project: string) => (await listHits(control, project)).map(({ hits }) => hits)

it('adds up hits', async () => {
  const counts = createHitCounts({ control, log: SILENT })
  await setRule('team/adds')
  for (const hits of [1, 2]) {
    counts.record('team/adds', [RULE], [hits])
    await counts.flush()
  }
  expect(await hitsOf('team/adds')).toEqual([3])
})

it('keeps none of a project that is erased, here or by another server', async () => {
  const [here, other] = [0, 1].map(() => createHitCounts({ control, log: SILENT }))
  const removal = createRedactionRemoval({ control, redaction: { forget: (id) => here?.forget(id) } })
  await setRule('team/erased')
  for (const counts of [here, other]) counts?.record('team/erased', [RULE], [1])
  await removal.eraseProjects?.(['team/erased'], new AbortController().signal)
  await other?.flush()
  expect(await hitsOf('team/erased')).toEqual([])
  // A new project of the same name.
  await setRule('team/erased')
  await here?.flush()
  expect(await hitsOf('team/erased')).toEqual([])
})
