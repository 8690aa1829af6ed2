import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

/** A turn of a thread, where `fields` do not override that. */
function turn(thread_id: string, clock: string, ms: number, fields: Fields = {}): Fields & { id: string } {
  const id = newId()
  const started_at = new Date(`2026-01-01T${clock}Z`)
  return finishedCall({
    id,
    thread_id,
    turn_id: id,
    started_at: started_at.toISOString(),
    ended_at: new Date(started_at.getTime() + ms).toISOString(),
    ...fields,
  })
}

const write = (project: string, ...calls: Fields[]) => writeCalls(server, project, calls)

async function threads(project_id: string, fields: Fields = {}): Promise<Fields[]> {
  const response = await server.post('/threads/stream_query', { project_id, ...fields })
  return documentsOf(response)
}

async function names(project_id: string, fields: Fields): Promise<unknown[]> {
  return (await threads(project_id, fields)).map((thread) => thread['thread_id'])
}

describe('POST /threads/stream_query', () => {
  it('200 with statistics of the turns of a thread', async () => {
    const project = server.newProject()
    const first = turn('t', '10:00:00', 100)
    const longest = turn('t', '10:00:01', 9000)
    const last = turn('t', '10:00:05', 300)
    await write(project, last, first, longest, turn('t', '10:00:06', 1, { turn_id: first.id }))
    expect(await threads(project)).toEqual([
      {
        thread_id: 't',
        turn_count: 3,
        start_time: '2026-01-01T10:00:00.000000Z',
        last_updated: '2026-01-01T10:00:10.000000Z',
        first_turn_id: first.id,
        last_turn_id: longest.id,
        p50_turn_duration_ms: 300,
        p99_turn_duration_ms: expect.closeTo(8826, 6),
      },
    ])
  })

  it('200 without calls that are no turns, deleted ones, unfinished threads and other projects', async () => {
    const project = server.newProject()
    const gone = turn('gone', '10:00:00', 1)
    await write(
      project,
      gone,
      turn('', '10:00:00', 1),
      turn('child', '10:00:00', 1, { turn_id: newId() }),
      turn('none', '10:00:00', 1, { turn_id: null }),
      turn('x', '10:00:00', 1, { thread_id: null }),
    )
    await server.post('/call/start', { start: { ...turn('open', '10:00:00', 1), project_id: project } })
    await server.post('/calls/delete', { project_id: project, call_ids: [gone.id] })
    await write(server.newProject(), turn('elsewhere', '10:00:00', 1))
    expect(await threads(project)).toEqual([])
  })

  it('200 with the requested order, filter and page', async () => {
    const project = server.newProject()
    await write(
      project,
      turn('a', '10:00:00', 9_000_000),
      turn('b', '11:00:00', 1),
      turn('b', '11:30:00', 1),
      turn('c', '12:00:00', 500),
    )
    const sorted = (field: string, direction: string, more: Fields = {}) =>
      names(project, { sort_by: [{ field, direction }], ...more })
    expect(await names(project, {})).toEqual(['a', 'c', 'b'])
    expect(await names(project, { limit: 1, offset: 1 })).toEqual(['c'])
    expect(await names(project, { limit: 0 })).toEqual([])
    expect(await sorted('turn_count', 'desc')).toEqual(['b', 'a', 'c'])
    expect(await sorted('start_time', 'desc')).toEqual(['c', 'b', 'a'])
    expect(await sorted('thread_id', 'desc', { limit: 2 })).toEqual(['c', 'b'])
    expect(await sorted('p50_turn_duration_ms', 'asc')).toEqual(['b', 'c', 'a'])
    expect(await sorted('p99_turn_duration_ms', 'desc')).toEqual(['a', 'c', 'b'])
    expect(await names(project, { filter: { thread_ids: ['a', 'c', 'x'] } })).toEqual(['a', 'c'])
    expect(await names(project, { filter: { thread_ids: [] } })).toEqual(['a', 'c', 'b'])
    const after_datetime = '2026-01-01T11:00:00Z'
    expect(await threads(project, { filter: { after_datetime } })).toMatchObject([
      { thread_id: 'c' },
      { thread_id: 'b', turn_count: 1 },
    ])
    const before_datetime = '2026-01-01T12:00:00+01:00'
    expect(await names(project, { filter: { before_datetime } })).toEqual(['a'])
  })

  it.each([
    { sort_by: [{ field: 'first_turn_id', direction: 'asc' }] },
    { sort_by: [{ field: '1; DROP TABLE calls', direction: 'asc' }] },
    { limit: -1 },
    { offset: -1 },
  ])('400 for %j', async (fields) => {
    const body = { project_id: server.newProject(), ...fields }
    expect((await server.post('/threads/stream_query', body)).status).toBe(400)
  })

  it('422 for too many fields to sort by', async () => {
    const sort_by = Array.from({ length: 33 }, () => ({ field: 'thread_id', direction: 'asc' }))
    const body = { project_id: server.newProject(), sort_by }
    expect((await server.post('/threads/stream_query', body)).status).toBe(422)
  })

  it('422 for an invalid time', async () => {
    const body = { project_id: server.newProject(), filter: { after_datetime: 'yesterday' } }
    expect((await server.post('/threads/stream_query', body)).status).toBe(422)
  })
})
