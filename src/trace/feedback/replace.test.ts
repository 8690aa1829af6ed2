import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer()

function note(project_id: string, fields: Fields = {}): Fields {
  const weave_ref = `weave:///${project_id}/call/${newId()}`
  return { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: 'good' }, ...fields }
}

async function create(body: Fields): Promise<Fields> {
  return replyOf(await server.post('/feedback/create', body))
}

async function query(project_id: string): Promise<{ result: Fields[]; total_count: number }> {
  return replyOf(await server.post('/feedback/query', { project_id }))
}

describe('POST /feedback/replace', () => {
  it('200 with a new row in place of the old', async () => {
    const project = server.newProject()
    const old = await create(note(project))
    const response = await server.post('/feedback/replace', {
      ...note(project, { payload: { note: 'better' } }),
      feedback_id: old['id'],
    })
    const { id } = (await response.json()) as { id: string }
    expect(id).not.toBe(old['id'])
    expect((await query(project)).result).toMatchObject([{ id, payload: { note: 'better' } }])
  })

  it('200 and one row, however often the same is sent', async () => {
    const project = server.newProject()
    for (const id of [undefined, 'own-id']) {
      const old = await create(note(project, { ...(id !== undefined && { id }) }))
      const body = { ...note(project, { payload: { note: 'better' } }), feedback_id: old['id'] }
      const replies = await Promise.all([1, 2, 3].map(() => server.post('/feedback/replace', body)))
      const ids = await Promise.all(replies.map(async (reply) => ((await reply.json()) as { id: string }).id))
      expect(new Set(ids).size).toBe(1)
      expect((await query(project)).result.filter((row) => row['id'] === ids[0])).toHaveLength(1)
      const other = await server.post('/feedback/replace', { ...body, payload: { note: 'best' } })
      expect(((await other.json()) as { id: string }).id).not.toBe(ids[0])
    }
    expect((await query(project)).total_count).toBe(4)
  })

  it('200 with one row of an id that another ref had', async () => {
    const project = server.newProject()
    const old = await create(note(project, { id: 'own-id' }))
    const moved = { id: 'own-id', weave_ref: `weave:///${project}/call/other`, feedback_id: old['id'] }
    await replyOf(await server.post('/feedback/replace', note(project, moved)))
    expect((await query(project)).result).toMatchObject([{ id: 'own-id', weave_ref: moved.weave_ref }])
  })
})
