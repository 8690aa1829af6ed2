import { describe, expect, it } from 'vitest'
import { replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

async function ok<Reply>(path: string, body: unknown): Promise<Reply> {
  return replyOf<Reply>(await server.post(path, body))
}

async function publish(project_id: string, object_id: string, val: unknown): Promise<string> {
  const { digest } = await ok<{ digest: string }>('/obj/create', { obj: { project_id, object_id, val } })
  return `weave:///${project_id}/object/${object_id}:${digest}`
}

async function read(...refs: string[]): Promise<unknown[]> {
  return (await ok<{ vals: unknown[] }>('/refs/read_batch', { refs })).vals
}

describe('POST /refs/read_batch', () => {
  it('200 with whole values and parts of them, in order', async () => {
    const project = server.newProject()
    const ref = await publish(project, 'o', { a: { 'b/c d': [1, { x: null }] }, n: 2 })
    expect(
      await read(
        `${ref}/attr/a/key/b%2Fc%20d/index/0`,
        ref,
        ref.replace('/object/', '/op/'),
        `${ref}/attr/n`,
        `${ref}/attr/a/attr/b%2Fc%20d/index/1`,
      ),
    ).toEqual([
      1,
      { a: { 'b/c d': [1, { x: null }] }, n: 2 },
      { a: { 'b/c d': [1, { x: null }] }, n: 2 },
      2,
      { x: null },
    ])
    expect(await read()).toEqual([])
  })

  it('200 with the object or the op that a ref names, where both have the name', async () => {
    const project = server.newProject()
    const rule = await publish(project, 'rule', { limit: 1 })
    const op = { _type: 'CustomWeaveType', weave_type: { type: 'Op' }, files: {} }
    await publish(project, 'rule', op)
    const first = rule.replace(/:[^:]*$/, ':v0')
    expect(await read(first, first.replace('/object/', '/op/'))).toEqual([{ limit: 1 }, op])
  })

  it('200 with null where a path leads nowhere', async () => {
    const ref = await publish(server.newProject(), 'o', { list: [1], none: null, text: 'x' })
    const paths = [
      'attr/missing',
      'attr/list/index/1',
      'attr/list/index/-1',
      'attr/list/index/x',
      'attr/list/attr/0',
    ]
    const further = [
      'attr/none',
      'attr/none/attr/a',
      'attr/text/index/0',
      'index/0',
      'attr/list/id/x',
      'attr/__proto__',
    ]
    const vals = await read(...[...paths, ...further].map((path) => `${ref}/${path}`))
    expect(vals).toEqual(vals.map(() => null))
  })

  it('200 with numbers as they were sent', async () => {
    const project = server.newProject()
    const body = `{"obj":{"project_id":"${project}","object_id":"o","val":{"n":[1.0,12345678901234567890]}}}`
    await server.request('/obj/create', { method: 'POST', body })
    const response = await server.post('/refs/read_batch', {
      refs: [`weave:///${project}/object/o:v0/attr/n`],
    })
    expect(await response.text()).toBe('{"vals":[[1.0,12345678901234567890]]}')
  })

  it('200 follows refs on the path, but not the one at its end', async () => {
    const project = server.newProject()
    const leaf = await publish(project, 'leaf', { deep: [7] })
    const middle = await publish(project, 'middle', { leaf: `${leaf}/attr/deep` })
    const top = await publish(project, 'top', { middle })
    expect(
      await read(
        `${top}/attr/middle/attr/leaf/index/0`,
        `${top}/attr/middle`,
        `${top}/attr/middle/attr/none`,
      ),
    ).toEqual([7, middle, null])
  })

  it('200 with rows of tables, each once or many times', async () => {
    const project_id = server.newProject()
    const rows = Array.from({ length: 1000 }, (_, n) => ({ n }))
    const table = await ok<{ digest: string; row_digests: string[] }>('/table/create', {
      table: { project_id, rows },
    })
    const dataset = await publish(project_id, 'dataset', {
      rows: `weave:///${project_id}/table/${table.digest}`,
    })
    const refs = table.row_digests.map((digest) => `${dataset}/attr/rows/id/${digest}`)
    expect(await read(...refs)).toEqual(rows)
    expect(await read(`${refs[3]}/key/n`, `${refs[3]}/key/n`, `${dataset}/attr/rows/index/0`)).toEqual([
      3,
      3,
      null,
    ])
    const other = await ok<{ row_digests: string[] }>('/table/create', {
      table: { project_id, rows: [{ x: 1 }] },
    })
    const foreign = `${dataset}/attr/rows/id/${other.row_digests[0]}`
    expect((await server.post('/refs/read_batch', { refs: [foreign] })).status).toBe(404)
  })

  it('200 with null for refs that lead into another project, and for a circle', async () => {
    const project = server.newProject()
    const elsewhere = await publish(server.newProject(), 'o', { a: 1 })
    const here = await publish(project, 'o', { ref: elsewhere })
    const circle = await publish(project, 'circle', `weave:///${project}/object/circle:v0/attr/again`)
    expect(await read(`${here}/attr/ref/attr/a`, `${circle}/attr/x`)).toEqual([null, null])
    expect(await read(elsewhere, here)).toEqual([{ a: 1 }, { ref: elsewhere }])
  })

  it('200 with null for a deleted object, 404 for one that never existed', async () => {
    const project = server.newProject()
    const ref = await publish(project, 'o', {})
    await ok('/obj/delete', { project_id: project, object_id: 'o' })
    expect(await read(ref, `${ref}/attr/a`)).toEqual([null, null])
    const unknown = `weave:///${project}/object/o:${'x'.repeat(43)}`
    const response = await server.post('/refs/read_batch', { refs: [ref, unknown] })
    expect(response.status).toBe(404)
  })

  it.each([
    'weave:///a/b/table/x',
    'weave:///a/b/call/x',
    'weave:///a/b/object/o:latest',
    'weave:///a/b/object/o',
    'weave:///a/b/object/o:x/attr',
    'weave:///a/b/object/o:x/nope/y',
    'weave:///a',
    'http://x',
    '',
  ])('400 for %s', async (ref) => {
    expect((await server.post('/refs/read_batch', { refs: [ref] })).status).toBe(400)
  })

  it('413 where a value is named so often that the reply would be too large', async () => {
    const ref = await publish(server.newProject(), 'o', 'x'.repeat(600_000))
    const refs = Array.from({ length: 1000 }, () => ref)
    expect((await server.post('/refs/read_batch', { refs })).status).toBe(413)
  })

  it('400 for more than 1000 refs, 422 without a list', async () => {
    const refs = Array.from({ length: 1001 }, () => 'weave:///a/b/object/o:x')
    expect((await server.post('/refs/read_batch', { refs })).status).toBe(400)
    expect((await server.post('/refs/read_batch', { refs: 'x' })).status).toBe(422)
  })
})
