import { beforeAll, describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../../testing.ts'
import { finishedCall, writeCalls } from '../../test-calls.ts'
import type { ListReader } from '../read/execute.ts'
import type { List } from '../read/list.ts'
import { listOf, readerOf } from '../read/test-lists.ts'
import { parseLines } from '../render/parse-lines.ts'
import { TRUNCATED_BYTES } from '../sql/truncated.ts'
import * as queries from './queries.ts'

const server = useTestServer({})

/** Hundreds of lists, on a busy machine. */
const TEST_MS_MAX = 240_000

const BEGINNING = 'b'.repeat(TRUNCATED_BYTES)

const VALUES: unknown[] = [
  ...['', 'a', 'B', '7', '07', ' 7', '7.0', 'true', 'null', 'é', '\u0000', '\u0001', 'a.b', '-1e400'],
  ...[BEGINNING, BEGINNING.slice(1), `${BEGINNING}a`, `${BEGINNING}c`, `1${'0'.repeat(TRUNCATED_BYTES)}`],
  ...[`1${'0'.repeat(TRUNCATED_BYTES)}x`, `${'é'.repeat(TRUNCATED_BYTES)}`],
  ...[7, 7.5, -3, 0, 1e21, true, false, null],
  ...[[], [7], [BEGINNING, 7], {}, { a: 7 }, { a: BEGINNING, b: [1, { c: null }] }],
]

const PATHS = ['attributes.value', 'inputs.a\\.b.1', 'output.value', 'summary.value.deep']

/** What ClickHouse cannot parse as a document: an integer and a number beyond its types, and half a surrogate pair. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object }
const UNREADABLE: unknown[] = [rawJSON('98765432109876543210'), rawJSON('1e999'), '\ud83d']

const payloads = (value: unknown, other: unknown = 'test') => ({
  started: { attributes: { value, env: other }, inputs: { value, 'a.b': ['first', value] } },
  ended: { output: { value }, summary: { value: { deep: value }, other } },
})

/** Conditions on one field, and what they may be compared with; `turn` chooses the operators of each literal. */
function* conditions(field: Fields, turn: number): Generator<Fields> {
  const literals = [
    '',
    'a',
    '7',
    'true',
    BEGINNING,
    BEGINNING.slice(1),
    `${BEGINNING}a`,
    7,
    0.5,
    -3,
    true,
    null,
  ]
  for (const [at, literal] of literals.entries())
    for (const operator of ['$eq', ['$gt', '$lte', '$gte', '$lt'][(at + turn) % 4] ?? ''])
      yield { [operator]: [field, { $literal: literal }] }
  yield { $lt: [{ $literal: 7 }, field] }
  yield { $not: [{ $eq: [field, { $literal: 'a' }] }] }
  yield { $in: [field, [{ $literal: 'a' }, { $literal: BEGINNING }]] }
  yield { $in: [field, [{ $literal: 7 }, { $literal: 0 }]] }
  yield { $in: [field, [{ $literal: '7' }, { $literal: 7.5 }, { $literal: null }]] }
  yield { $contains: { input: field, substr: { $literal: BEGINNING } } }
  yield { $and: [field] }
  yield { $or: [{ $eq: [field, { $literal: 7 }] }, { $eq: [field, { $getField: 'inputs.value' }] }] }
  for (const [at, to] of ['double', 'int', 'bool', 'exists', 'string'].entries()) {
    const converted = { $convert: { input: field, to } }
    const literal = [7, '7', 1, BEGINNING][(at + turn) % 4]
    yield { $gte: [converted, { $literal: literal }] }
    yield { $and: [converted] }
  }
}

function* requests(): Generator<Fields> {
  for (const [turn, path] of PATHS.entries()) {
    const field = { $getField: path }
    for (const $expr of conditions(field, turn)) yield { query: { $expr } }
    for (const direction of ['asc', 'desc']) yield { sort_by: [{ field: path, direction }] }
  }
  const [first, , third] = PATHS.map((path) => ({ $eq: [{ $getField: path }, { $literal: 7 }] }))
  yield { query: { $expr: { $and: [first, third] } } }
  yield { query: { $expr: { $and: [third, { $not: [first] }] } } }
  const field = { $getField: 'output.value' }
  const text = { $contains: { input: field, substr: { $literal: BEGINNING } } }
  yield { query: { $expr: { $and: [text, { $gt: [field, { $literal: 'a' }] }] } } }
  yield { query: { $expr: { $and: [{ $and: [{ $gte: [field, { $literal: 0 }] }, third] }, text] } } }
  // Fewer than a condition finds, in orders by the leaf and by others.
  const query = { $expr: { $gte: [{ $convert: { input: field, to: 'double' } }, { $literal: 0 }] } }
  for (const by of ['output.value', 'started_at'])
    yield { query, sort_by: [{ field: by, direction: 'desc' }], limit: 2, offset: 1 }
}

describe('a list by leaf columns is the same as by payloads', () => {
  let project: string
  let reader: ListReader

  function listIn(request: Fields, leafColumns: ReadonlySet<string>): List {
    const list = listOf(project, request)
    return { ...list, selection: { ...list.selection, leafColumns } }
  }

  async function scanned(request: Fields, leafColumns: ReadonlySet<string>): Promise<string[]> {
    return Array.fromAsync(reader.ids(listIn(request, leafColumns)))
  }

  async function listed(request: Fields, leafColumns: ReadonlySet<string>): Promise<string[]> {
    const ids: string[] = []
    for await (const lines of reader.lines(listIn(request, leafColumns)))
      for (const { id } of parseLines(lines)) ids.push(id)
    return ids
  }

  /** Calls with each value: in one part, in two, and with another start and end before. */
  async function write(): Promise<void> {
    const calls = VALUES.map((value) => {
      const { started, ended } = payloads(value)
      return finishedCall({ ...started, ...ended })
    })
    const unreadable = UNREADABLE.flatMap((other) =>
      [7, 'a', null].map((value) => {
        const { started, ended } = payloads(value, other)
        return finishedCall({ ...started, ...ended })
      }),
    )
    await writeCalls(server, project, [...calls, ...unreadable, finishedCall()])
    const ids = VALUES.map(() => finishedCall())
    await writeParts(ids, (at) => VALUES[(at * 7 + 3) % VALUES.length])
    await writeParts(ids.slice(1), (at) => VALUES[at])
  }

  /** Starts and ends of calls, each in a write of its own. */
  async function writeParts(calls: readonly Fields[], valueAt: (at: number) => unknown): Promise<void> {
    const parts = calls.map(({ id, trace_id, op_name, started_at, ended_at }, at) => {
      const { started, ended } = payloads(valueAt(at))
      const start = { project_id: project, id, trace_id, op_name, started_at, ...started }
      return { start, end: { project_id: project, id, ended_at, ...ended } }
    })
    const starts = parts.map(({ start }) => ({ mode: 'start', req: { start } }))
    const ends = parts.map(({ end }) => ({ mode: 'end', req: { end } }))
    for (const batch of [starts, ends]) await replyOf(await server.post('/call/upsert_batch', { batch }))
  }

  /** Each request is answered by payloads once. */
  const answers = new Map<string, readonly string[]>()

  async function byPayloads(request: Fields): Promise<readonly string[]> {
    const key = JSON.stringify(request)
    const known = answers.get(key) ?? (await scanned(request, new Set()))
    answers.set(key, known)
    return known
  }

  async function expectSame(read: typeof scanned): Promise<void> {
    for (const request of requests()) {
      const found = await read(request, new Set(PATHS))
      expect(found, JSON.stringify(request).slice(0, 300)).toEqual(await byPayloads(request))
    }
  }

  const command = (sql: string): Promise<void> => server.stores.traces.command({ sql, params: {} })

  beforeAll(async () => {
    project = server.newProject()
    reader = readerOf(server.stores.traces)
    await command('SYSTEM STOP MERGES calls')
    await write()
    for (const path of PATHS) await server.stores.traces.command(queries.addColumn(path))
    await write()
  }, TEST_MS_MAX)

  it('while older rows have no values in them', () => expectSame(scanned), TEST_MS_MAX)

  it(
    'when all have, and parts are merged',
    async () => {
      await command('SYSTEM START MERGES calls')
      for (const path of PATHS) await server.stores.traces.command(queries.fillColumn(path))
      await command('OPTIMIZE TABLE calls FINAL')
      await expectSame(listed)
    },
    TEST_MS_MAX,
  )
})
