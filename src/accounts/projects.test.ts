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

  it('begins a project anew that another server has erased, once that is known or may have been missed', async () => {
    const [projects, other] = [createProjects({ control }), createProjects({ control })]
    const project = { entity: 'crew', name: 'missed' }
    await projects.ensure(project)
    await control.transaction().execute((tx) => other.delete(tx, ['crew/missed']))
    projects.forget()
    await projects.ensureById('crew/missed')
    expect(await projects.exists(project)).toBe(true)
  })

  it('does not remember a project that was begun while projects were forgotten', async () => {
    const projects = createProjects({ control })
    const project = { entity: 'crew', name: 'meanwhile' }
    const begun = projects.ensure(project)
    projects.forget()
    await begun
    await control.transaction().execute((tx) => projects.delete(tx, ['crew/meanwhile']))
    await projects.ensureById('crew/meanwhile')
    expect(await projects.exists(project)).toBe(true)
  })
})
