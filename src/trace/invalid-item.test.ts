import { describe, expect, it } from 'vitest'
import { newId } from '../ids.ts'
import { documentsOf, type Fields, useTestServer } from '../testing.ts'

const server = useTestServer()

function note(project_id: string, fields: Fields = {}): Fields {
  const weave_ref = `weave:///${project_id}/call/${newId()}`
  return { project_id, weave_ref, feedback_type: 'wandb.note.1', payload: { note: 'good' }, ...fields }
}

function call(project_id: string, fields: Fields = {}): Fields {
  const [started_at, ended_at] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:01Z']
  const named = { project_id, id: newId(), trace_id: newId(), op_name: 'op' }
  const payloads = { attributes: {}, inputs: {}, output: null, summary: {} }
  return { ...named, started_at, ended_at, ...payloads, ...fields }
}

async function callsOf(project_id: string): Promise<unknown[]> {
  return documentsOf(await server.post('/calls/stream_query', { project_id }))
}

/** Expects a refusal for what the second item of a batch says, at a place in it. */
async function expectRefusal(response: Response, place: readonly string[] = []): Promise<void> {
  expect(response.status).toBe(422)
  expect(await response.json()).toMatchObject({
    detail: [{ loc: ['body', 'batch', '1', ...place], msg: expect.stringMatching(/./) }],
  })
}

describe('POST /feedback/batch/create', () => {
  it.each<[fault: string, Fields]>([
    ['a note without text', { payload: {} }],
    ['a reaction that is none', { feedback_type: 'wandb.reaction.1', payload: { emoji: 'not emoji' } }],
    ['a payload that is too large', { feedback_type: 'own', payload: { text: 'x'.repeat(1024 * 1024) } }],
    ['a ref that is none', { weave_ref: 'weave:///nowhere' }],
    ['an id that is too long', { id: 'x'.repeat(129) }],
    ['an unknown queue', { queue_id: newId() }],
    [
      'an unknown annotation spec',
      {
        project_id: 'local/none',
        feedback_type: 'wandb.annotation.stars',
        annotation_ref: `weave:///local/none/object/stars:${'x'.repeat(43)}`,
        payload: { value: 1 },
      },
    ],
  ])('422 with the place of %s, and nothing of the batch is stored', async (_fault, fields) => {
    const project = server.newProject()
    const batch = [note(project), note(project, fields), note(project)]
    await expectRefusal(await server.post('/feedback/batch/create', { batch }))
    const stored = await server.post('/feedback/query', { project_id: project })
    expect(await stored.json()).toMatchObject({ total_count: 0 })
  })
})

describe('POST /call/upsert_batch', () => {
  it.each<[fault: string, mode: 'start' | 'end', Fields]>([
    ['a bad ref in a start', 'start', { inputs: { r: 'weave:///x' } }],
    ['a bad ref in an end', 'end', { output: 'weave:///x' }],
    ['an id that is none', 'end', { id: 'x' }],
  ])('422 with the place of %s, and nothing of the batch is stored', async (_fault, mode, fields) => {
    const project = server.newProject()
    const batch = [
      { mode: 'start', req: { start: call(project) } },
      { mode, req: { [mode]: call(project, fields) } },
    ]
    await expectRefusal(await server.post('/call/upsert_batch', { batch }))
    expect(await callsOf(project)).toEqual([])
  })
})

describe('POST /v2/{entity}/{project}/calls/complete', () => {
  it.each<[fault: string, Fields, place?: string[]]>([
    ['a long op name', { op_name: 'x'.repeat(300) }],
    ['a long display name', { display_name: 'x'.repeat(1025) }],
    ['an id that is none', { id: 'x' }],
    ['a trace id that is none', { trace_id: 'x' }],
    ['a bad ref', { output: 'weave:///x' }],
    ['a time that is none', { started_at: 'yesterday' }, ['started_at']],
  ])('422 with the place of %s, and nothing of the batch is stored', async (_fault, fields, place) => {
    const project = server.newProject()
    const batch = [call(project), call(project, fields), call(project)]
    await expectRefusal(await server.post(`/v2/${project}/calls/complete`, { batch }), place)
    expect(await callsOf(project)).toEqual([])
  })
})
