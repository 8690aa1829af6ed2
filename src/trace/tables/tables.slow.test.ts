import { describe, expect, it } from 'vitest'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { jsonDigest, tableDigest } from '../digest.ts'

const server = useTestServer()

interface Row {
  digest: string
  val: Fields
  original_index: number
}

async function ok<Reply>(path: string, body: unknown): Promise<Reply> {
  return replyOf<Reply>(await server.post(path, body))
}

function create(project_id: string, rows: unknown[], fields: Fields = {}) {
  return ok<{ digest: string; row_digests: string[] }>('/table/create', {
    table: { project_id, rows, ...fields },
  })
}

async function query(project_id: string, digest: string, fields: Fields = {}): Promise<Row[]> {
  return (await ok<{ rows: Row[] }>('/table/query', { project_id, digest, ...fields })).rows
}

const VECTOR = '961c194fcfd17df71f481d7deb215448f174de9d9f561f44acbb0d0b7498b986'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const ROWS = [
  { n: 3, s: 'c' },
  { n: '10' },
  { s: 'a', deep: { 'a.b': [5] } },
  { n: 3, s: 'c' },
  { n: null, s: 'b' },
]

describe('POST /table/create', () => {
  it('200 with the digests of table and rows, each time it is sent', async () => {
    const project = server.newProject()
    const rows = [{ a: 1 }, { a: 'x', b: [1] }]
    for (let times = 0; times < 2; times++) {
      const row_digests = rows.map((row) => jsonDigest(JSON.stringify(row)))
      expect(await create(project, rows, { expected_digest: VECTOR })).toEqual({
        digest: VECTOR,
        row_digests,
      })
    }
    expect(await query(project, VECTOR)).toHaveLength(2)
    expect(await create(project, [])).toEqual({ digest: EMPTY, row_digests: [] })
  })

  it('200 and rows read back as they were sent', async () => {
    const project = server.newProject()
    const row = '{"2":1.0,"1":12345678901234567890,"e":1e400,"__proto__":{}}'
    const body = `{"table":{"project_id":"${project}","rows":[${row}]}}`
    const response = await server.request('/table/create', { method: 'POST', body })
    const { digest, row_digests } = (await response.json()) as { digest: string; row_digests: string[] }
    const found = await server.post('/table/query', { project_id: project, digest })
    expect(await found.text()).toBe(
      `{"rows":[{"digest":"${row_digests[0]}","original_index":0,"val":${row}}]}`,
    )
  })

  it('409 for another digest than expected, and nothing is stored', async () => {
    const project_id = server.newProject()
    const table = { project_id, rows: [{ a: 1 }], expected_digest: VECTOR }
    expect((await server.post('/table/create', { table })).status).toBe(409)
    expect(await query(project_id, tableDigest([jsonDigest('{"a":1}')]))).toEqual([])
  })

  it.each([[1], ['x'], [null], [[{}]]])('422 for a row that is %j', async (...rows) => {
    const response = await server.post('/table/create', { table: { project_id: server.newProject(), rows } })
    expect(response.status).toBe(422)
  })

  it('400 for a bad ref in a row, and for an invalid project', async () => {
    const bad = [
      { project_id: server.newProject(), rows: [{}, { a: 'weave:///x' }] },
      { project_id: 'p', rows: [{}] },
    ]
    for (const table of bad) expect((await server.post('/table/create', { table })).status).toBe(400)
  })

  it('200 for a hundred thousand rows, and others are answered meanwhile', async () => {
    const project = server.newProject()
    const rows = Array.from({ length: 100_000 }, (_, n) => ({ n, text: `row ${n} `.repeat(10) }))
    const made = create(project, rows)
    const health = await server.request('/v1/health')
    expect(health.status).toBe(200)
    const { digest } = await made
    expect(await query(project, digest, { limit: 2, offset: 99_998 })).toMatchObject([
      { original_index: 99_998 },
      { original_index: 99_999, val: { n: 99_999 } },
    ])
    const sort_by = [{ field: 'n', direction: 'desc' }]
    expect(await query(project, digest, { limit: 1, sort_by })).toMatchObject([{ val: { n: 99_999 } }])
    const stream = await server.post('/table/query_stream', { project_id: project, digest })
    const lines = (await stream.text()).split('\n')
    expect(lines).toHaveLength(100_001)
    expect(JSON.parse(lines[54_321] ?? '')).toMatchObject({ original_index: 54_321, val: { n: 54_321 } })
  })
})

describe('POST /table/create_from_digests', () => {
  it('200 for the rows of tables that came before, and for no rows', async () => {
    const project_id = server.newProject()
    const { row_digests } = await create(project_id, [{ a: 1 }, { a: 2 }])
    const reversed = row_digests.toReversed()
    const made = await ok<{ digest: string }>('/table/create_from_digests', {
      project_id,
      row_digests: reversed,
    })
    expect(made).toEqual({ digest: tableDigest(reversed) })
    expect((await query(project_id, made.digest)).map((row) => row.val)).toEqual([{ a: 2 }, { a: 1 }])
    const probe = { project_id: server.newProject(), row_digests: [] }
    expect(await ok('/table/create_from_digests', probe)).toEqual({ digest: EMPTY })
  })

  it('409 for another digest than expected', async () => {
    const body = { project_id: server.newProject(), row_digests: [], expected_digest: VECTOR }
    expect((await server.post('/table/create_from_digests', body)).status).toBe(409)
  })
})

describe('POST /table/query', () => {
  const cases: [Fields, number[]][] = [
    [{}, [0, 1, 2, 3, 4]],
    [{ limit: 2, offset: 1 }, [1, 2]],
    [{ offset: 4 }, [4]],
    [{ limit: 0 }, []],
    [{ filter: { row_digests: null }, sort_by: null }, [0, 1, 2, 3, 4]],
    [{ filter: { row_digests: [jsonDigest('{"n":3,"s":"c"}')] } }, [0, 3]],
    [{ filter: { row_digests: [] } }, [0, 1, 2, 3, 4]],
    [{ filter: { row_digests: ["') OR 1=1 --"] } }, []],
    [{ sort_by: [{ field: 'n', direction: 'asc' }] }, [0, 3, 1, 2, 4]],
    [{ sort_by: [{ field: 'n', direction: 'desc' }], limit: 2 }, [1, 0]],
    [
      {
        sort_by: [
          { field: 's', direction: 'asc' },
          { field: 'n', direction: 'asc' },
        ],
      },
      [2, 4, 0, 3, 1],
    ],
    [{ sort_by: [{ field: 'deep.a\\.b.0', direction: 'asc' }] }, [2, 0, 1, 3, 4]],
    [{ sort_by: [{ field: "n'); DROP TABLE tables; --", direction: 'asc' }] }, [0, 1, 2, 3, 4]],
  ]
  it.each(cases)('200 for %j', async (fields, expected) => {
    const project = server.newProject()
    const { digest } = await create(project, ROWS)
    const rows = await query(project, digest, fields)
    expect(rows.map((row) => row.original_index)).toEqual(expected)
    expect(rows.map((row) => row.val)).toEqual(expected.map((index) => ROWS[index]))
  })

  it("200 without rows for an unknown table and another project's", async () => {
    const { digest } = await create(server.newProject(), ROWS)
    expect(await query(server.newProject(), digest)).toEqual([])
    expect(await query(server.newProject(), 'unknown')).toEqual([])
  })

  it.each<Fields>([
    { limit: -1 },
    { offset: -1 },
    ...['', '.a', 'a.', 'a..b'].map((field) => ({ sort_by: [{ field, direction: 'asc' }] })),
  ])('400 for %j', async (fields) => {
    const body = { project_id: server.newProject(), digest: EMPTY, ...fields }
    expect((await server.post('/table/query', body)).status).toBe(400)
    expect((await server.post('/table/query_stream', body)).status).toBe(400)
  })
})

describe('POST /table/query_stream', () => {
  it('200 with one row a line', async () => {
    const project_id = server.newProject()
    const { digest } = await create(project_id, ROWS)
    const response = await server.post('/table/query_stream', { project_id, digest, limit: 3 })
    expect(response.headers.get('content-type')).toBe('application/jsonl')
    const rows = (await response.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
    expect(rows).toEqual(await query(project_id, digest, { limit: 3 }))
  })
})

describe('a table whose rows are read in several parts', () => {
  it('is read whole and in order, large rows between small ones', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => ({ n, s: 'x'.repeat(n % 2 === 0 ? 4_000_000 : 1) }))
    const project_id = server.newProject()
    const { digest } = await create(project_id, rows)
    const sizes = (found: Row[]) => found.map(({ val }) => [val['n'], String(val['s']).length])
    expect(sizes(await query(project_id, digest))).toEqual(rows.map(({ n, s }) => [n, s.length]))
  })
})

describe('POST /table/update', () => {
  it('200 applies the updates in order and names the row of each', async () => {
    const project_id = server.newProject()
    const base = await create(project_id, [{ a: 0 }, { a: 1 }])
    const updates = [
      { append: { row: { a: 2 } } },
      { pop: { index: 0 } },
      { insert: { index: 0, row: { a: -1 } } },
      { insert: { index: 3, row: { a: 3 } } },
    ]
    const updated = await ok<{ digest: string; updated_row_digests: string[] }>('/table/update', {
      project_id,
      base_digest: base.digest,
      updates,
    })
    expect(updated.updated_row_digests).toEqual(
      ['{"a":2}', '{"a":0}', '{"a":-1}', '{"a":3}'].map((row) => jsonDigest(row)),
    )
    const vals = (await query(project_id, updated.digest)).map((row) => row.val['a'])
    expect(vals).toEqual([-1, 1, 2, 3])
    expect(await query(project_id, base.digest)).toHaveLength(2)
  })

  it.each([
    { pop: { index: 2 } },
    { pop: { index: -1 } },
    { insert: { index: 3, row: {} } },
    { insert: { index: -1, row: {} } },
  ])('400 for %j of two rows', async (update) => {
    const project_id = server.newProject()
    const { digest } = await create(project_id, [{ a: 0 }, { a: 1 }])
    const response = await server.post('/table/update', {
      project_id,
      base_digest: digest,
      updates: [update],
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({ reason: 'Index out of range' })
  })

  it("404 for an unknown table and another project's", async () => {
    const { digest } = await create(server.newProject(), ROWS)
    for (const base_digest of [digest, 'unknown']) {
      const body = { project_id: server.newProject(), base_digest, updates: [] }
      expect((await server.post('/table/update', body)).status).toBe(404)
    }
  })

  it.each([
    {},
    { append: {} },
    { pop: { index: 'x' } },
    { append: { row: {} }, pop: { index: 0 } },
    { pop: { index: 0.5 } },
  ])('422 for the update %j', async (update) => {
    const body = { project_id: server.newProject(), base_digest: EMPTY, updates: [update] }
    expect((await server.post('/table/update', body)).status).toBe(422)
  })
})

describe('POST /table/query_stats', () => {
  it('200 with the count, 404 for an unknown table', async () => {
    const project_id = server.newProject()
    const { digest } = await create(project_id, ROWS)
    await create(project_id, ROWS)
    expect(await ok('/table/query_stats', { project_id, digest })).toEqual({ count: 5 })
    const unknown = await server.post('/table/query_stats', { project_id: server.newProject(), digest })
    expect(unknown.status).toBe(404)
  })
})

describe('POST /table/query_stats_batch', () => {
  it('200 without unknown tables, with sizes on request', async () => {
    const project_id = server.newProject()
    const full = await create(project_id, [{ a: 1 }, { a: 1 }, { a: 22 }])
    await create(project_id, [])
    const digests = [full.digest, EMPTY, 'unknown']
    const stats = async (fields: Fields) => {
      const { tables } = await ok<{ tables: Fields[] }>('/table/query_stats_batch', { project_id, ...fields })
      return tables.toSorted((a, b) => Number(b['count']) - Number(a['count']))
    }
    expect(await stats({ digests })).toEqual([
      { digest: full.digest, count: 3, storage_size_bytes: null },
      { digest: EMPTY, count: 0, storage_size_bytes: null },
    ])
    expect(await stats({ digests, include_storage_size: true })).toMatchObject([
      { storage_size_bytes: 22 },
      { storage_size_bytes: 0 },
    ])
    expect(await stats({})).toEqual([])
  })
})
