import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestControlDb } from '../stores/control-db/test-database.ts'
import { createProjects } from './projects.ts'

let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

describe('createProjects, beside an erasure', () => {
  it('refuses a project whose entity was closed while it was begun', async () => {
    const projects = createProjects({ control })
    const begun = projects.ensure({ entity: 'crew', name: 'p' })
    projects.closed.close('erasure', [{ entity: 'crew' }])
    await expect(begun).rejects.toThrow('is being deleted')
  })

  it('begins a project anew after its whole entity was erased', async () => {
    const projects = createProjects({ control })
    const project = { entity: 'team', name: 'p' }
    await projects.ensure(project)
    projects.closed.close('erasure', [{ entity: 'team' }])
    await control.transaction().execute((tx) => projects.delete(tx, ['team/p']))
    projects.closed.reopen('erasure')
    await projects.ensureById('team/p')
    expect(await projects.exists(project)).toBe(true)
  })
})
