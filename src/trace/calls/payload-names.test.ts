import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { documentsOf, type Fields, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../test-calls.ts'

const server = useTestServer()

async function seeded(): Promise<string> {
  const project = server.newProject()
  await writeCalls(server, project, [
    finishedCall({ inputs: { n: 3 }, output: 'three', attributes: { a: 3 }, summary: { s: 3 } }),
    finishedCall({ inputs: { n: 10 }, output: { o: 3 }, parent_id: newId() }),
    finishedCall({ inputs: {}, exception: 'no' }),
  ])
  return project
}

async function list(project_id: string, fields: Fields): Promise<Fields[]> {
  return documentsOf(await server.post('/calls/stream_query', { project_id, ...fields }))
}

describe('POST /calls/stream_query by other names of payloads', () => {
  it.each(['attributes', 'inputs', 'output', 'summary'])(
    '200 with %s, in columns, filters and order; 403 below the other name',
    async (name) => {
      const project = await seeded()
      const other = `${name}_dump`
      expect(await list(project, { columns: [other] })).toEqual(await list(project, { columns: [name] }))
      const containing = (field: string) => ({
        query: { $expr: { $contains: { input: { $getField: field }, substr: { $literal: '3' } } } },
        sort_by: [{ field, direction: 'desc' }],
      })
      expect(await list(project, containing(other))).toEqual(await list(project, containing(name)))
      const below = { project_id: project, ...containing(`${other}.a`) }
      expect((await server.post('/calls/stream_query', below)).status).toBe(403)
    },
  )
})

describe('POST /calls/stream_query for the empty text', () => {
  it.each(['inputs.none', 'output.none', 'inputs.n', 'op_name', 'parent_id', 'exception'])(
    '200 with all calls, whether they have %s or not',
    async (field) => {
      const project = await seeded()
      for (const case_insensitive of [true, false]) {
        const $contains = { input: { $getField: field }, substr: { $literal: '' }, case_insensitive }
        expect(await list(project, { query: { $expr: { $contains } } })).toHaveLength(3)
      }
    },
  )
})
