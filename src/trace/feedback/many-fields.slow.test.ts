import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

function note(project_id: string, payload: Fields): Fields {
  return { project_id, weave_ref: `weave:///${project_id}/call/${newId()}`, feedback_type: 'custom', payload }
}

describe('POST /feedback/query', () => {
  it('413 for more fields of many rows than a reply can hold, though none of them is there', async () => {
    const project = server.newProject()
    const batch = Array.from({ length: 1000 }, (_, n) => note(project, { n }))
    for (let times = 0; times < 7; times++)
      expect((await server.post('/feedback/batch/create', { batch })).status).toBe(200)
    const fields = Array.from({ length: 1000 }, (_, n) => `payload.a${n}`)
    expect((await server.post('/feedback/query', { project_id: project, fields })).status).toBe(413)
  })

  it('200 with fields that lead to the same place, by names and by positions', async () => {
    const project = server.newProject()
    const payload = { list: [{ x: 1 }], names: { '00': 'a', '0': 'b' }, list2: [] }
    await replyOf(await server.post('/feedback/create', note(project, payload)))
    const shown = {
      'payload.list': [{ x: 1 }],
      'payload.list.0': { x: 1 },
      'payload.list.00.x': 1,
      'payload.list.x': null,
      'payload.names.00': 'a',
      'payload.names.0': 'b',
      'payload.list2.0': null,
      'payload.list.0.x': 1,
      'payload.list.0.x.y': null,
    }
    const request = { project_id: project, fields: Object.keys(shown) }
    const { result } = await replyOf(await server.post('/feedback/query', request))
    expect(result).toEqual([shown])
  })
})
