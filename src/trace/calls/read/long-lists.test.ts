import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../../ids.ts'
import { documentsOf, type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import { listOf, readerOf } from './test-lists.ts'

const server = useTestServer()

/** More calls than the database renders as JSON. */
const CALLS = 700

async function idsOf(project_id: string, request: Fields): Promise<unknown[]> {
  const calls: Fields[] = await documentsOf(
    await server.post('/calls/stream_query', { project_id, ...request }),
  )
  return calls.map(({ id }) => id)
}

describe('POST /calls/stream_query for long lists by start time', () => {
  // Some start at the same time, and ids are not in the order of start times.
  const calls = Array.from({ length: CALLS }, (_, number) =>
    finishedCall({
      id: number % 7 === 0 ? crypto.randomUUID() : newId(),
      started_at: new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(number / 3))).toISOString(),
      op_name: number % 40 === 0 ? 'rare' : 'common',
      inputs: { number },
    }),
  )
  const oldestFirst = calls.toSorted((a, b) =>
    `${a['started_at']}${a.id}` < `${b['started_at']}${b.id}` ? -1 : 1,
  )
  const idsWhere = (test: (call: Fields) => boolean): string[] => oldestFirst.filter(test).map(({ id }) => id)
  let project: string

  beforeAll(async () => {
    project = server.newProject()
    await writeCalls(server, project, calls)
  })

  it('200 with all, either way round', async () => {
    expect(await idsOf(project, {})).toEqual(idsWhere(() => true))
    const sort_by = [{ field: 'started_at', direction: 'desc' }]
    expect(await idsOf(project, { sort_by })).toEqual(idsWhere(() => true).toReversed())
  })

  it('200 with those that a filter selects, from an offset up to a limit', async () => {
    const filter = { op_names: ['common'] }
    const common = idsWhere((call) => call['op_name'] === 'common')
    expect(await idsOf(project, { filter, offset: 11, limit: 600 })).toEqual(common.slice(11, 611))
  })

  it('200 with no other calls, even where a large one lies between those of a batch', async () => {
    const huge = finishedCall({ started_at: '2030-01-01T00:00:00Z', inputs: { text: 'x'.repeat(1_000_000) } })
    const neighbour = String(oldestFirst[300]?.id)
    const between = neighbour.slice(0, -1) + (neighbour.endsWith('0') ? '1' : '0')
    await writeCalls(server, project, [{ ...huge, id: between }])
    expect(await idsOf(project, { limit: CALLS })).toEqual(idsWhere(({ id }) => id !== between))
  })
})

describe('long lists of which no more is read', () => {
  it('503 for further ones of their entity, none for those of others, and again once some have ended', async () => {
    const [stalled, others] = [newId(), newId()]
    const [project, other] = [`${stalled}/lists`, `${others}/lists`]
    for (const owner of [project, other]) await writeCalls(server, owner, [finishedCall()])
    const reader = readerOf(server.stores.traces)
    const begun: AsyncGenerator<Uint8Array>[] = []
    const begin = async (owner: string): Promise<void> => {
      const lines = reader.lines(listOf(owner))
      await lines.next()
      begun.push(lines)
    }
    const refused = await Array.fromAsync({ length: 50 }, () => begin(project)).catch(
      (error: unknown) => error,
    )
    expect(refused).toMatchObject({
      status: 503,
      message: expect.stringContaining(`${begun.length} of them of ${stalled}`),
    })
    await begin(other)
    await Promise.all(begun.slice(0, 2).map((lines) => lines.return(undefined)))
    await begin(project)
    await Promise.all(begun.map((lines) => lines.return(undefined)))
  })
})

describe('POST /calls/stream_query for texts in parts of calls', () => {
  it('200 as the parts are together', async () => {
    const project_id = server.newProject()
    const {
      ended_at,
      output: _output,
      summary,
      ...start
    } = finishedCall({ inputs: { text: 'an old needle' } })
    const end = (output: unknown): Fields => ({ project_id, id: start.id, ended_at, output, summary })
    const found = (path: string, substr: string, and: Fields[] = []): Promise<unknown[]> => {
      const contains = { $contains: { input: { $getField: path }, substr: { $literal: substr } } }
      return idsOf(project_id, { query: { $expr: { $and: [contains, ...and] } } })
    }
    await replyOf(await server.post('/call/end', { end: end({ text: 'first haystack' }) }))
    expect(await found('output.text', 'haystack')).toEqual([])
    await replyOf(await server.post('/call/start', { start: { ...start, project_id } }))
    expect(await found('output.text', 'haystack')).toEqual([start.id])
    const inOutput = { $contains: { input: { $getField: 'output.text' }, substr: { $literal: 'haystack' } } }
    expect(await found('inputs.text', 'needle', [inOutput])).toEqual([start.id])
    await replyOf(await server.post('/call/end', { end: end({ text: 'second' }) }))
    expect(await found('output.text', 'haystack')).toEqual([])
    expect(await found('output.text', 'second')).toEqual([start.id])
    await server.post('/calls/delete', { project_id, call_ids: [start.id] })
    expect(await found('inputs.text', 'needle')).toEqual([])
  })
})
