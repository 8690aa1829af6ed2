import { describe, expect, it } from 'vitest'
import { idOf, newId } from '../../../ids.ts'
import { type Query as DbQuery, firstOf, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { SILENT } from '../../../test-log.ts'
import { seeded } from '../../../test-random.ts'
import { useTestServer } from '../../../testing.ts'
import { isoOfMicros } from '../../../time.ts'
import { Query } from '../../query-language/wire.ts'
import type { CallsStreamQueryReq } from '../messages/list-wire.ts'
import type { KnownLists } from '../read/execute.ts'
import type { List } from '../read/list.ts'
import { countCalls } from '../read/queries.ts'
import { FROM_DATABASE, listOf, readerOf } from '../read/test-lists.ts'
import type { CallRow } from '../sql/table.ts'
import { createRecentCalls, type RecentCalls } from './recent-calls.ts'
import { createRows, OPS, START_MS } from './test-rows.ts'

const server = useTestServer()

const NEWEST_FIRST = [{ field: 'started_at', direction: 'desc' as const }]

function openRecent(traces: TraceDb, bytesMax = 2 ** 30): RecentCalls {
  return createRecentCalls({ traces, log: SILENT, bytesMax })
}

/** The calls of a list, and whether memory answered it. */
async function answerOf(recent: KnownLists, list: List) {
  const reader = readerOf(server.stores.traces, recent)
  const pieces: Uint8Array[] = []
  for await (const piece of reader.lines(list)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function countOf({ selection }: List): Promise<number | undefined> {
  const query = countCalls(selection, { limit: undefined, storageSize: 'without' })
  return (await firstOf(server.stores.traces.query<{ count: number }>(query)))?.count
}

/** Members keep their order; a character may be escaped in several ways. */
function callsIn(lines: string): string[] {
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.stringify(JSON.parse(line)))
}

/** Milliseconds after the first call. */
function startedWithin(bounds: Record<string, number>): Query {
  const conditions = Object.entries(bounds).map(([operator, ms]) => ({
    [operator]: [{ $getField: 'started_at' }, { $literal: isoOfMicros((START_MS + ms) * 1000) }],
  }))
  return Query.parse({ $expr: { $and: conditions } })
}

const LISTS: Partial<CallsStreamQueryReq>[] = [
  { sort_by: NEWEST_FIRST, limit: 10 },
  { sort_by: NEWEST_FIRST, limit: 10, offset: 35 },
  { sort_by: NEWEST_FIRST, limit: 0 },
  { sort_by: NEWEST_FIRST, limit: 1000 },
  { sort_by: NEWEST_FIRST, limit: 5, columns: ['output', 'inputs.text'] },
  { sort_by: NEWEST_FIRST, limit: 5, include_usernames: true },
  { sort_by: NEWEST_FIRST, limit: 5, include_storage_size: true },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { trace_roots_only: true } },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { op_names: ['weave:///e/p/op/a:*', 'é"\\\u0007'] } },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { op_names: ['plain'], wb_user_ids: ['me'] } },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { thread_ids: [''] } },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { thread_ids: [] } },
  { sort_by: NEWEST_FIRST, limit: 5, filter: { thread_ids: ['thread'], parent_ids: ['p1'] } },
  { sort_by: NEWEST_FIRST, limit: 2, filter: { trace_ids: ['t1', 't2'], turn_ids: [] } },
  { sort_by: NEWEST_FIRST, limit: 10, query: startedWithin({ $lte: 300 }) },
  { sort_by: NEWEST_FIRST, query: startedWithin({ $gt: 500 }) },
  { query: startedWithin({ $gte: 400, $lt: 700 }) },
  { query: { $expr: { $gte: [{ $getField: 'started_at' }, { $literal: (START_MS + 600) / 1000 }] } } },
  { limit: 10 },
  { filter: { trace_ids: ['t1'] } },
  { offset: 5 },
]

/** Only the database finds the calls of these, which memory may know. */
const SEARCHES: Partial<CallsStreamQueryReq>[] = [
  { sort_by: [{ field: 'output', direction: 'desc' }], limit: 30 },
  { sort_by: [{ field: 'inputs.text', direction: 'asc' }], limit: 20, offset: 10, columns: ['inputs'] },
  { sort_by: NEWEST_FIRST, limit: 20, query: contains('inputs.text', 'é'.repeat(20)) },
  { limit: 10, query: contains('attributes', 'a') },
  { sort_by: [{ field: 'wb_user_id', direction: 'asc' }] },
]

function contains(path: string, text: string): Query {
  return Query.parse({
    $expr: { $contains: { input: { $getField: path }, substr: { $literal: text } } },
  })
}

/** Counts the calls of a list that come from memory and those that do not. */
function counting(recent: KnownLists) {
  const calls = { known: 0, unknown: 0 }
  const line: KnownLists['line'] = (list, id) => {
    const found = recent.line(list, id)
    calls[found === undefined ? 'unknown' : 'known']++
    return found
  }
  return { lists: { ...recent, line }, calls }
}

/** A trace database some of whose inserts fail, before or after their rows are stored. */
function failing(traces: TraceDb, random: () => number): TraceDb {
  return {
    ...traces,
    async insert(table, rows) {
      const kind = random()
      if (kind > 0.05) await traces.insert(table, rows)
      if (kind < 0.1) throw new Error('The connection was lost')
    },
  }
}

describe('recent calls', () => {
  it.each([
    [1, 2 ** 30],
    [2, 60_000],
    [3, 200_000],
    [4, 1],
  ])('are what the database has, seed %i, with %i bytes of memory', async (seed, bytesMax) => {
    const random = seeded(seed)
    const traces = failing(server.stores.traces, random)
    const recent = openRecent(traces, bytesMax)
    const project = server.newProject()
    const rows = createRows(random, project)
    let answers = 0
    for (let round = 0; round < 8; round++) {
      for (let batch = 0; batch < 4; batch++)
        await recent.insert(Array.from({ length: 10 }, rows.next)).catch(() => undefined)
      const some = rows.ids.filter(() => random() < 0.05)
      const byId = some.map((id) => ({ filter: { call_ids: [id] }, limit: 1 }))
      const byTrace = some.flatMap((id) => [
        { filter: { trace_ids: [id] } },
        {
          filter: { trace_ids: [id, ...rows.ids.slice(-2)], op_names: OPS },
          sort_by: NEWEST_FIRST,
          limit: 3,
        },
      ])
      for (const fields of [...LISTS, ...byId, ...byTrace]) {
        const list = listOf(project, fields)
        const count = recent.count(list.selection)
        if (count !== undefined) expect(count, JSON.stringify(fields)).toBe(await countOf(list))
        const known = recent.lines(list)?.toString()
        if (known === undefined) continue
        // That a trace has no calls is known without any in memory.
        if (known !== '') answers++
        expect(callsIn(known), JSON.stringify(fields)).toEqual(callsIn(await answerOf(FROM_DATABASE, list)))
      }
    }
    expect(answers > 10).toBe(bytesMax > 1)
  })

  it.each([
    ['all', 6, 2 ** 30],
    ['some', 7, 200_000],
    ['no', 8, 1],
  ])(
    'are what the database has, where it finds them, and memory has %s calls',
    async (share, seed, bytesMax) => {
      const random = seeded(seed)
      const recent = openRecent(failing(server.stores.traces, random), bytesMax)
      const project = server.newProject()
      const rows = createRows(random, project)
      const seen = new Set<string>()
      for (let batch = 0; batch < 20; batch++) {
        await recent.insert(Array.from({ length: 10 }, rows.next)).catch(() => undefined)
        for (const fields of SEARCHES) {
          const list = listOf(project, fields)
          const { lists, calls } = counting(recent)
          const answer = callsIn(await answerOf(lists, list))
          expect(answer, JSON.stringify(fields)).toEqual(callsIn(await answerOf(FROM_DATABASE, list)))
          seen.add([calls.known > 0 && 'known', calls.unknown > 0 && 'unknown'].filter(Boolean).join(' and '))
        }
      }
      expect(seen.has('known and unknown')).toBe(share !== 'no')
    },
  )

  it('a trace is answered whole, or not at all', async () => {
    const project = server.newProject()
    const earlier = openRecent(server.stores.traces)
    const [old, late] = [idOf('old', START_MS), idOf('late', START_MS + 10)]
    const startOf = (id: string, trace_id: string, after: number): CallRow => {
      const started_at = isoOfMicros((START_MS + after) * 1000)
      return { project_id: project, id, has_start: 1, trace_id, op_name: 'op', started_at }
    }
    await earlier.insert([startOf(idOf('one', START_MS + 1), late, 1)])
    const recent = openRecent(server.stores.traces)
    const newest = idOf('newest', START_MS + 20)
    const calls = ['two', 'three'].map((name, at) => idOf(name, START_MS + 30 + at))
    await recent.insert([...calls.map((id) => startOf(id, newest, 30)), startOf(newest, late, 20)])
    const linesOf = (trace: string): string | undefined =>
      recent.lines(listOf(project, { filter: { trace_ids: [trace] } }))?.toString()
    expect(linesOf(old)).toBeUndefined()
    expect(linesOf(late)).toBeUndefined()
    expect(callsIn(linesOf(newest) ?? '')).toHaveLength(2)
    // It moves to the other trace, whose id is greater.
    await recent.insert([{ project_id: project, id: newest, trace_id: newest }])
    expect(callsIn(linesOf(newest) ?? '')).toHaveLength(3)
    expect(linesOf(idOf('never', START_MS + 40))).toBe('')
  })

  it('leaves a trace of more calls than are sorted here to the database, where memory may lack other calls', async () => {
    const recent = openRecent(server.stores.traces)
    const project = server.newProject()
    const startOf = (id: string, trace_id: string): CallRow => {
      const started_at = isoOfMicros(Date.now() * 1000)
      return { project_id: project, id, has_start: 1, trace_id, op_name: 'op', started_at }
    }
    await openRecent(server.stores.traces).insert([startOf(newId(), newId())])
    const trace = newId()
    await recent.insert(Array.from({ length: 1000 }, () => startOf(newId(), trace)))
    const { selection } = listOf(project, { filter: { trace_ids: [trace] } })
    expect(recent.count(selection)).toBe(1000)
    await recent.insert([startOf(newId(), trace)])
    expect(recent.count(selection)).toBeUndefined()
  })

  it('answers for one call by its id, and for an id that is newer than all', async () => {
    const recent = openRecent(server.stores.traces)
    const project = server.newProject()
    const { next } = createRows(seeded(5), project)
    await recent.insert([next()])
    expect(recent.line(listOf(project), newId())?.toString()).toBe('')
    const id = newId()
    const row: CallRow = { project_id: project, id, has_start: 1, started_at: isoOfMicros(START_MS * 1000) }
    await recent.insert([{ ...row, op_name: 'op', trace_id: id }])
    expect(recent.line(listOf(project), id)?.toString()).toContain(id)
    expect(recent.line(listOf(server.newProject()), id)).toBeUndefined()
  })

  it('does not know what an earlier server wrote, and finds it in the database', async () => {
    const { traces } = server.stores
    const project = server.newProject()
    const id = newId()
    const started_at = isoOfMicros((START_MS + 60_000) * 1000)
    const start: CallRow = { project_id: project, id, has_start: 1, started_at, op_name: 'op', trace_id: id }
    await openRecent(traces).insert([start])

    const recent = openRecent(traces)
    await recent.insert([{ project_id: project, id, ended_at: started_at }])
    const newer = newId()
    await recent.insert([{ ...start, id: newer, started_at: isoOfMicros(START_MS * 1000) }])
    expect(recent.line(listOf(project), id)).toBeUndefined()
    // The earlier server's call is the newest one.
    const list = listOf(project, { sort_by: NEWEST_FIRST, limit: 1 })
    expect(recent.lines(list)).toBeUndefined()
    expect(await answerOf(recent, list)).toContain(id)
  })

  it.each(['before', 'after'])(
    'leaves a call to the database whose write began before its project was forgotten, and ended %s its bounds were known',
    async (end) => {
      const { traces } = server.stores
      const project_id = server.newProject()
      const [first, slow, next] = [1, 2, 3].map(() => newId())
      const [written, read, known] = [0, 1, 2].map(() => Promise.withResolvers<void>())
      let isHeld = false
      const recent = openRecent({
        ...traces,
        async insert(table, rows: readonly object[]) {
          if (rows.some((row) => 'id' in row && row.id === slow)) await written?.promise
          await traces.insert(table, rows)
        },
        async *query<Row>(query: DbQuery) {
          const rows = await rowsOf(traces.query<Row>(query))
          if (isHeld) read?.resolve()
          if (isHeld) await known?.promise
          yield* rows
        },
      })
      const insert = (id = ''): Promise<void> =>
        recent.insert([
          { project_id, id, has_start: 1, started_at: isoOfMicros(START_MS * 1000), trace_id: id },
        ])
      await insert(first)
      const slowly = insert(slow)
      recent.forget([project_id])
      isHeld = true
      const soon = insert(next)
      await read?.promise
      if (end === 'before') written?.resolve()
      if (end === 'before') await slowly
      known?.resolve()
      await soon
      written?.resolve()
      await slowly
      expect(recent.line(listOf(project_id), slow ?? '')).toBeUndefined()
      expect(recent.line(listOf(project_id), next ?? '')?.toString()).toContain(next)
      expect(await answerOf(recent, listOf(project_id, { sort_by: NEWEST_FIRST, limit: 5 }))).toContain(slow)
    },
  )

  it('counts texts without a limit of their own as memory', async () => {
    const recent = openRecent(server.stores.traces, 100_000)
    const project_id = server.newProject()
    const ids = Array.from({ length: 10 }, newId)
    const exception = 'x'.repeat(30_000)
    for (const id of ids)
      await recent.insert([
        { project_id, id, has_start: 1, started_at: isoOfMicros(1), trace_id: id, exception },
      ])
    const known = ids.filter((id) => recent.line(listOf(project_id), id) !== undefined)
    expect(known).toEqual(ids.slice(-3))
  })

  it('shares its memory among projects', async () => {
    const recent = openRecent(server.stores.traces, 27_000)
    const ids: string[] = []
    const projects = Array.from({ length: 12 }, server.newProject)
    for (const project_id of projects) {
      const id = newId()
      ids.push(id)
      const started_at = isoOfMicros(START_MS * 1000)
      await recent.insert([{ project_id, id, has_start: 1, started_at, trace_id: id }])
    }
    const known = projects.filter(
      (project, index) => recent.line(listOf(project), ids[index] ?? '') !== undefined,
    )
    expect(known.length).toBeGreaterThan(3)
    expect(known.length).toBeLessThan(8)
  })

  it('keeps the calls of an entity beside another with many projects', async () => {
    const recent = openRecent(server.stores.traces, 20_000)
    const write = async (project_id: string): Promise<string> => {
      const id = newId()
      const started_at = isoOfMicros(START_MS * 1000)
      await recent.insert([{ project_id, id, has_start: 1, started_at, trace_id: id }])
      return id
    }
    const quiet = `quiet-${newId()}/project`
    const ids = [await write(quiet), await write(quiet), await write(quiet)]
    const flood = `flood-${newId()}`
    for (let number = 0; number < 60; number++) await write(`${flood}/project${number % 30}`)
    expect(ids.filter((id) => recent.line(listOf(quiet), id) !== undefined)).toEqual(ids)
  })

  it('leaves payloads that are too large to the database', async () => {
    const recent = openRecent(server.stores.traces)
    const project = server.newProject()
    const id = newId()
    const started_at = isoOfMicros(Date.now() * 1000)
    const inputs = JSON.stringify({ text: 'x'.repeat(300_000) })
    await recent.insert([{ project_id: project, id, has_start: 1, started_at, trace_id: id, inputs }])
    const list = listOf(project, { sort_by: NEWEST_FIRST, limit: 1 })
    expect(recent.lines(list)).toBeUndefined()
    expect(await answerOf(recent, list)).toContain(id)
  })
})
