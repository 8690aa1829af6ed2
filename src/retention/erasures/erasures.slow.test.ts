import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../ids.ts'
import { createMutations } from '../../stores/trace-db/mutations.ts'
import { filesWith } from '../../test-files.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'
import { tablesWith } from '../test-traces-of.ts'
import type { Erasure } from './wire.ts'

/** The database removes files of parts that were replaced some 40 s later. */
const GONE_MS_MAX = 900_000
vi.setConfig({ testTimeout: GONE_MS_MAX })

const server = useTestServer({ recentCallsBytes: 1024 * 1024 })
const NO_SIGNAL = new AbortController().signal

/** Unique, and of letters alone, so that it is a word of the index and stays whole when it is compressed. */
function newMarker(): string {
  return Array.from({ length: 24 }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('')
}

async function ok(path: string, body: unknown): Promise<Fields> {
  return replyOf(await server.post(path, body))
}

/** Writes a text in every way in which the trace API takes one. */
async function writeEverywhere(project_id: string, marker: string): Promise<Fields> {
  const text = `${marker} and more`
  const call = finishedCall({ inputs: { text }, output: { text }, attributes: { text }, summary: { text } })
  await writeCalls(server, project_id, [call])
  await ok('/call/update', { project_id, call_id: call.id, display_name: text })
  const table = await ok('/table/create', { table: { project_id, rows: [{ text }] } })
  await ok('/obj/create', { obj: { project_id, object_id: 'thing', val: { text, table: table['digest'] } } })
  await ok('/obj/add_tags', { project_id, object_id: 'thing', digest: 'latest', tags: ['a'] }).catch(
    () => ({}),
  )
  const form = new FormData()
  form.set('project_id', project_id)
  form.set('file', new Blob([text]), 'name')
  await server.request('/file/create', { method: 'POST', body: form })
  const weave_ref = `weave:///${project_id}/call/${call.id}`
  const feedback = { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: text } }
  await ok('/feedback/create', feedback)
  await ok('/annotation_queues', { project_id, name: text, description: text, scorer_refs: [] })
  return call
}

async function untilGone(id: string): Promise<Erasure> {
  return vi.waitFor(
    async () => {
      const erasure = await replyOf<Erasure>(await server.request(`/v1/accounts/erasures/${id}`))
      expect(erasure.state).toBe('done')
      return erasure
    },
    { timeout: GONE_MS_MAX, interval: 500 },
  )
}

describe('DELETE /v2/{entity}/{project}', () => {
  it('200 with a receipt: at once nothing can be read, then nothing is on the disk, and others keep all', async () => {
    const { traces } = server.stores
    const [project, other] = [server.newProject(), server.newProject()]
    const [marker, kept] = [newMarker(), newMarker()]
    const call = await writeEverywhere(project, marker)
    await writeEverywhere(other, kept)
    const before = await filesWith(server.folder, marker)
    expect(before.some((file) => file.startsWith('blobs'))).toBe(true)
    expect(before.some((file) => file.startsWith('trace-db'))).toBe(true)
    expect(before.some((file) => file.startsWith('control.sqlite'))).toBe(true)
    const tables = await tablesWith(traces, kept)
    expect(tables).toEqual(expect.arrayContaining(['calls', 'feedback', 'objects', 'table_rows']))

    const reply = await server.request(`/v2/${project}`, { method: 'DELETE' })
    const receipt = await replyOf<Erasure>(reply)
    expect(receipt).toMatchObject({ kind: 'project', subject: project, state: 'running' })
    expect((await server.post('/call/read', { project_id: project, id: call['id'] })).status).toBe(404)
    expect((await server.post('/calls/stream_query', { project_id: project })).status).toBe(404)

    const done = await untilGone(receipt.id)
    expect(done.unreadable_at).not.toBeNull()
    const counts = Object.fromEntries(done.amounts.map(({ kind, count }) => [kind, count]))
    expect(counts).toMatchObject({ calls: 1, objects: 1, tables: 1, table_rows: 1, files: 1, feedback: 1 })
    expect(await tablesWith(traces, marker)).toEqual([])
    expect(await filesWith(server.folder, marker)).toEqual([])
    expect(await tablesWith(traces, kept)).toEqual(tables)
    expect(await ok('/calls/query_stats', { project_id: other })).toMatchObject({ count: 1 })
    // The name is free again.
    await writeCalls(server, project, [finishedCall()])
    expect(await ok('/calls/query_stats', { project_id: project })).toMatchObject({ count: 1 })
    const audit = await replyOf(await server.request('/v1/accounts/audit?action=project.erase'))
    expect(JSON.stringify(audit)).toContain(receipt.id)
  })

  it('404 for a project that does not exist', async () => {
    expect((await server.request(`/v2/${server.newProject()}`, { method: 'DELETE' })).status).toBe(404)
  })
})

describe('POST /calls/delete, and then the upkeep', () => {
  it('empties them, keeps a mark, and late parts bring nothing back', async () => {
    const { traces } = server.stores
    const project_id = server.newProject()
    const [marker, kept] = [newMarker(), newMarker()]
    const call = finishedCall({ inputs: { text: marker }, output: marker })
    const other = finishedCall({ inputs: { text: kept }, output: kept })
    await writeCalls(server, project_id, [call, other])
    await ok('/calls/delete', { project_id, call_ids: [call.id] })
    await server.upkeep.run(NO_SIGNAL, new Date().toISOString())
    expect(await tablesWith(traces, marker)).toEqual([])

    const end = { project_id, id: call.id, ended_at: new Date().toISOString(), summary: {}, output: marker }
    await ok('/call/end', { end })
    await ok('/call/start', { start: { ...finishedCall({ id: call.id }), project_id, inputs: { marker } } })
    expect(await ok('/calls/query_stats', { project_id })).toMatchObject({ count: 1 })
    expect(await ok('/call/read', { project_id, id: call.id })).toEqual({ call: null })
    await server.upkeep.run(NO_SIGNAL, new Date().toISOString())
    expect(await tablesWith(traces, marker)).toEqual([])
    expect(await ok('/call/read', { project_id, id: other.id })).toMatchObject({ call: { output: kept } })
  })

  it('leaves nothing on the disk of calls, objects, the files and tables that only they named, and feedback', async () => {
    const { traces } = server.stores
    const project_id = server.newProject()
    const [marker, kept] = [newMarker(), newMarker()]
    const call = finishedCall({ inputs: { text: marker }, output: marker })
    await writeCalls(server, project_id, [call])
    await ok('/calls/delete', { project_id, call_ids: [call.id] })
    await writeFilesAndTables(project_id, 'doomed', marker)
    await writeFilesAndTables(project_id, 'kept', kept)
    const weave_ref = `weave:///${project_id}/call/${newId()}`
    const feedback = { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: marker } }
    const { id } = await ok('/feedback/create', feedback)
    const query = { $expr: { $eq: [{ $getField: 'id' }, { $literal: id }] } }
    await ok('/feedback/purge', { project_id, query })
    await ok('/obj/delete', { project_id, object_id: 'doomed' })
    await server.upkeep.run(NO_SIGNAL, new Date(Date.now() + 1000).toISOString())
    await createMutations(traces).untilGone(NO_SIGNAL)
    expect(await tablesWith(traces, marker)).toEqual([])
    expect(await filesWith(server.folder, marker)).toEqual([])
    expect(await tablesWith(traces, kept)).toEqual(expect.arrayContaining(['objects', 'table_rows']))
    expect((await filesWith(server.folder, kept)).some((file) => file.startsWith('blobs'))).toBe(true)
    expect((await server.post('/obj/read', { project_id, object_id: 'doomed', digest: 'v0' })).status).toBe(
      404,
    )
  })
})

async function writeFilesAndTables(project_id: string, object_id: string, text: string): Promise<void> {
  const { digest } = await ok('/table/create', { table: { project_id, rows: [{ text }] } })
  const form = new FormData()
  form.set('project_id', project_id)
  form.set('file', new Blob([`file of ${text}`]), 'name')
  const file = await replyOf(await server.request('/file/create', { method: 'POST', body: form }))
  const val = { text, rows: `weave:///${project_id}/table/${digest}`, files: { name: file['digest'] } }
  await ok('/obj/create', { obj: { project_id, object_id, val } })
}
