import { describe, expect, it } from 'vitest'
import { createTestAccounts, type KeyClient } from '../../accounts/test-accounts.ts'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

async function ok(path: string, body: unknown): Promise<Fields> {
  return replyOf(await server.post(path, body))
}

const sizes = (traces: number, objects: number, tables: number, files: number) => ({
  trace_storage_size_bytes: traces,
  objects_storage_size_bytes: objects,
  tables_storage_size_bytes: tables,
  files_storage_size_bytes: files,
})

describe('POST /project/stats', () => {
  it('200 with the bytes of calls, objects, table rows and files', async () => {
    const project_id = server.newProject()
    expect(await ok('/project/stats', { project_id })).toEqual(sizes(0, 0, 0, 0))
    await writeCalls(server, project_id, [finishedCall({ inputs: { a: 1 }, output: 'x' })])
    await ok('/obj/create', { obj: { project_id, object_id: 'o', val: [1, 2] } })
    for (const rows of [[{ a: 1 }], [{ a: 1 }, { b: 2 }]])
      await ok('/table/create', { table: { project_id, rows } })
    const form = new FormData()
    form.set('project_id', project_id)
    form.set('file', new Blob(['hello']), 'name')
    await server.request('/file/create', { method: 'POST', body: form })
    expect(await ok('/project/stats', { project_id })).toEqual(sizes(14, 5, 14, 5))
    const some = { include_trace_storage_size: false, include_file_storage_size: false }
    expect(await ok('/project/stats', { project_id, ...some })).toEqual(sizes(0, 5, 14, 0))
  })

  it('400 when no size is requested', async () => {
    const response = await server.post('/project/stats', {
      project_id: server.newProject(),
      include_trace_storage_size: false,
      include_object_storage_size: false,
      include_table_storage_size: false,
      include_file_storage_size: false,
    })
    expect(response.status).toBe(400)
  })
})

describe('POST /project/ttl_settings/read, /project/ttl_settings/update, /project/ingest_sampling_settings/read and GET /project/sensitive_data_settings', () => {
  it('200: everything is accepted, stored unchanged, and kept', async () => {
    const project_id = server.newProject()
    expect(await ok('/project/ttl_settings/read', { project_id })).toEqual({ retention_days: null })
    expect(await ok('/project/ttl_settings/update', { project_id })).toEqual({ retention_days: null })
    expect(await ok('/project/ingest_sampling_settings/read', { project_id })).toEqual({
      sample_rate: 1,
      dry_run: false,
    })
    const path = `/project/sensitive_data_settings?project_id=${encodeURIComponent(project_id)}`
    expect(await (await server.request(path)).json()).toEqual({ policy: 'off' })
  })
})

describe('GET /projects/activity', () => {
  it('200 with the calls of each hour, the project that was used last first', async () => {
    const [quiet, older, newer] = [server.newProject(), server.newProject(), server.newProject()]
    await ok('/project/ttl_settings/read', { project_id: quiet })
    await ok('/obj/create', { obj: { project_id: quiet, object_id: 'o', val: 1 } })
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
    const at = (hours: number, fields: Fields = {}) =>
      finishedCall({ started_at: hoursAgo(hours), ended_at: hoursAgo(hours), ...fields })
    await writeCalls(server, older, [at(30), at(2.1), at(2.2, { exception: 'x' })])
    await writeCalls(server, newer, [at(0)])
    const reply = (await (await server.request('/projects/activity')).json()) as { projects: Fields[] }
    const names = [newer, older, quiet].map((name) => name.slice('test/'.length))
    const shown = reply.projects.filter(({ project }) => names.includes(String(project)))
    const hours = (counts: Record<number, number>) =>
      Array.from({ length: 24 }, (_, index) => counts[23 - index] ?? 0)
    // A project without calls counts as used when it was made.
    expect(shown.map(({ project }) => project).indexOf(names[1])).toBe(2)
    const byName = new Map(shown.map((one) => [one['project'], one]))
    expect(byName.get(names[0])).toMatchObject({ entity: 'test', failed: 0, calls_by_hour: hours({ 0: 1 }) })
    expect(byName.get(names[1])).toMatchObject({ failed: 1, calls_by_hour: hours({ 2: 2 }) })
    expect(byName.get(names[2])).toMatchObject({ failed: 0, calls_by_hour: hours({}), last_call_at: null })
  })
})

describe('GET /projects/activity of more projects than it lists', () => {
  const crowded = useTestServer({ auth: 'keys' })
  interface Reply {
    projects: { entity: string; project: string }[]
    has_more: boolean
  }

  it('200 with those used last, whenever they were made, any by its name, and the only one of a key', async () => {
    const accounts = createTestAccounts(crowded)
    const ada = await accounts.newUser('ada')
    const list = async (client: KeyClient, find = '') =>
      replyOf<Reply>(await client.get(`/projects/activity?find=${encodeURIComponent(find)}`))
    const use = async (name: string, hoursAgo: number) => {
      const started_at = new Date(Date.now() - hoursAgo * 3_600_000).toISOString()
      const start = { id: newId(), trace_id: newId(), op_name: 'op', attributes: {}, inputs: {} }
      const body = { start: { ...start, project_id: `ada/${name}`, started_at } }
      expect((await ada.post('/call/start', body)).status).toBe(200)
    }
    await use('Busy', 1)
    await use('once-busy', 30)
    await ada.post('/obj/create', { obj: { project_id: 'ada/quiet', object_id: 'o', val: 1 } })
    expect(await list(ada)).toMatchObject({ has_more: false })
    const newer = Array.from({ length: 1000 }, (_, at) => ({
      entity: 'ada',
      name: `newer-${at}`,
      created_at: new Date(Date.now() + at).toISOString(),
    }))
    await crowded.stores.control.insertInto('projects').values(newer).execute()
    const { projects, has_more } = await list(ada)
    const names = projects.map(({ project }) => project)
    expect(has_more).toBe(true)
    expect(names).toHaveLength(1000)
    expect(names).toEqual(expect.arrayContaining(['Busy', 'once-busy', 'newer-999', 'newer-2']))
    expect(names).not.toContain('quiet')
    expect((await list(ada, 'A/QUI')).projects).toMatchObject([{ entity: 'ada', project: 'quiet' }])
    expect(await list(ada, 'busy')).toMatchObject({
      projects: [{ project: 'Busy', last_call_at: expect.any(String) }, { project: 'once-busy' }],
      has_more: false,
    })
    const made = await ada.post('/v1/accounts/keys', { name: 'one', scope: 'all', project_id: 'ada/quiet' })
    const limited = accounts.as((await replyOf<{ key: string }>(made)).key)
    expect(await list(limited)).toMatchObject({ projects: [{ project: 'quiet' }], has_more: false })
    expect(await list(limited, 'busy')).toEqual({ projects: [], has_more: false })
  })
})
