import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { renameInAudit } from './audit-names.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

it('a user who is called like a scope is renamed where details name users, and nothing else is', async () => {
  const provider = { service_account: 'all', claims: { user: 'all', sub: 'all' } }
  const before = [
    { user: 'all', name: 'all', scope: 'all' },
    { admin: 'all', all: 'user' },
    { data: [provider, { project: 'all' }] },
  ]
  const event = { at: '', actor: 'all', key_id: '', action: '', entity: null, subject: 'other' }
  for (const [id, details] of before.entries())
    await control
      .insertInto('audit_events')
      .values({ ...event, id: String(id), details: JSON.stringify(details) })
      .execute()
  await control.transaction().execute((tx) => renameInAudit(tx, 'all', 'gone'))
  const rows = await control.selectFrom('audit_events').selectAll().orderBy('id').execute()
  expect(rows.map(({ actor }) => actor)).toEqual(['gone', 'gone', 'gone'])
  expect(rows.map(({ details }) => JSON.parse(details))).toEqual([
    { user: 'gone', name: 'all', scope: 'all' },
    { admin: 'gone', all: 'user' },
    { data: [{ ...provider, service_account: 'gone' }, { project: 'all' }] },
  ])
})
