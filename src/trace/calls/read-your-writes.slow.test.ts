import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' }]

async function list(project_id: string, request: Fields = {}): Promise<Fields[]> {
  return documentsOf(await server.post('/calls/stream_query', { project_id, ...request }))
}

const second = (number: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, number)).toISOString()

/** A project whose calls have been listed before they change. */
async function listedProject(calls: number): Promise<{ project: string; ids: string[] }> {
  const project = server.newProject()
  const written = Array.from({ length: calls }, (_, number) =>
    finishedCall({ started_at: second(number), inputs: { number } }),
  )
  await writeCalls(server, project, written)
  for (const request of [{}, { limit: 50, sort_by: NEWEST_FIRST }])
    for (let time = 0; time < 3; time++) await list(project, request)
  return { project, ids: written.map(({ id }) => id) }
}

async function read(project_id: string, id: string): Promise<Fields | null> {
  const { call } = await replyOf<{ call: Fields | null }>(await server.post('/call/read', { project_id, id }))
  return call
}

describe('POST /calls/stream_query for a list that was read before', () => {
  it('200 with the same bytes', async () => {
    const project = server.newProject()
    const odd = { thread_id: 'ü "q" \\ \n😀', exception: '{"id":"x"}\n', summary: { weave: { mine: 1 } } }
    await writeCalls(server, project, [finishedCall(odd), finishedCall({ inputs: { text: '\n{"id":"' } })])
    for (const request of [{}, { limit: 2 }, { include_storage_size: true }, { columns: ['inputs.text'] }]) {
      const asked = { project_id: project, ...request }
      const text = async () => (await server.post('/calls/stream_query', asked)).text()
      const first = await text()
      for (let time = 0; time < 3; time++) expect(await text()).toBe(first)
    }
  })

  it('200 with an end, a name and a later start that were written meanwhile', async () => {
    const project = server.newProject()
    const { id, trace_id, ended_at, summary, output, ...start } = finishedCall({ project_id: project })
    await replyOf(await server.post('/call/start', { start: { ...start, id, trace_id } }))
    for (let time = 0; time < 3; time++)
      expect(await list(project)).toMatchObject([{ id, ended_at: null, display_name: null }])
    await replyOf(
      await server.post('/call/end', { end: { project_id: project, id, ended_at, summary, output: 7 } }),
    )
    expect(await list(project)).toMatchObject([{ id, output: 7, summary: { weave: { status: 'success' } } }])
    await replyOf(
      await server.post('/call/update', { project_id: project, call_id: id, display_name: 'named' }),
    )
    expect(await list(project)).toMatchObject([{ id, output: 7, display_name: 'named' }])
    for (let time = 0; time < 3; time++)
      expect(await read(project, id)).toMatchObject({ id, output: 7, display_name: 'named' })
  })

  it('200 without deleted calls, with new ones, in order', async () => {
    const { project, ids } = await listedProject(60)
    const [oldest = '', ...others] = ids
    const middle = others[30] ?? ''
    await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [oldest, middle] }))
    const added = finishedCall({ started_at: second(30.5) })
    await writeCalls(server, project, [added])
    const left = others.filter((id) => id !== middle)
    const expected = [...left.slice(0, 30), added.id, ...left.slice(30)]
    expect((await list(project)).map(({ id }) => id)).toEqual(expected)
    const newest = await list(project, { limit: 50, sort_by: NEWEST_FIRST })
    expect(newest.map(({ id }) => id)).toEqual(expected.toReversed().slice(0, 50))
    expect(await read(project, middle)).toBeNull()
  })

  it('200 with every change of a list of many batches and of one whose calls are not neighbours', async () => {
    const { project, ids } = await listedProject(1500)
    const changed = ids.filter((_, number) => number % 100 === 7)
    for (const call_id of changed)
      await replyOf(
        await server.post('/call/update', { project_id: project, call_id, display_name: call_id }),
      )
    const calls = await list(project)
    expect(calls.map(({ id }) => id)).toEqual(ids)
    expect(calls.flatMap(({ id, display_name }) => (display_name === id ? [id] : []))).toEqual(changed)
    const byName = await list(project, { sort_by: [{ field: 'display_name', direction: 'desc' }], limit: 50 })
    expect(byName.slice(0, changed.length).map(({ id }) => id)).toEqual(changed.toSorted().toReversed())
    expect(byName.map((call) => call['inputs'])).toEqual(
      byName.map(({ id }) => ({ number: ids.indexOf(String(id)) })),
    )
  })

  it('200 with the call of the same id in another project unchanged', async () => {
    const [mine, theirs] = [server.newProject(), server.newProject()]
    const call = finishedCall({ inputs: { of: 'me' } })
    await writeCalls(server, mine, [call])
    await writeCalls(server, theirs, [{ ...call, inputs: { of: 'them' } }])
    for (let time = 0; time < 3; time++) {
      expect(await list(mine)).toMatchObject([{ inputs: { of: 'me' } }])
      expect(await list(theirs)).toMatchObject([{ inputs: { of: 'them' } }])
    }
  })

  it('200 with the total size of a trace, although only another of its calls has changed', async () => {
    const project = server.newProject()
    const root = finishedCall()
    await writeCalls(server, project, [root])
    const sizes = async () =>
      (await list(project, { include_total_storage_size: true })).map(
        (call) => call['total_storage_size_bytes'],
      )
    const [alone] = [await sizes(), await sizes(), await sizes()]
    const child = finishedCall({
      trace_id: root['trace_id'],
      parent_id: root.id,
      inputs: { text: 'x'.repeat(100) },
    })
    await writeCalls(server, project, [child])
    expect(Number((await sizes())[0])).toBeGreaterThan(Number(alone[0]) + 100)
  })

  it('200 with every acknowledged change, while others read and write', async () => {
    const { project, ids } = await listedProject(120)
    const names = new Map<string, string>()
    let isOver = false
    async function watch(): Promise<void> {
      while (!isOver) {
        const known = new Map(names)
        const calls = await list(project, { limit: 100, sort_by: NEWEST_FIRST })
        for (const { id, display_name } of calls) {
          const name = known.get(String(id))
          // Names are increasing numbers: the list shows the call as of the request, or later.
          if (name !== undefined) expect(Number(display_name)).toBeGreaterThanOrEqual(Number(name))
        }
      }
    }
    async function rename(own: readonly string[]): Promise<void> {
      for (let round = 1; round <= 40; round++) {
        const call_id = own[(round * 7) % own.length] ?? newId()
        const display_name = String(round)
        await replyOf(await server.post('/call/update', { project_id: project, call_id, display_name }))
        names.set(call_id, display_name)
        expect(await read(project, call_id)).toMatchObject({ display_name })
      }
    }
    const watching = [watch(), watch(), watch()]
    await Promise.all([rename(ids.slice(0, 60)), rename(ids.slice(60))]).finally(() => {
      isOver = true
    })
    await Promise.all(watching)
    // Readers that never pause would take processor time from the writers.
  })
})
