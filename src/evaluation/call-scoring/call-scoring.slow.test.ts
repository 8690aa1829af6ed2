import { afterAll, describe, expect, it, vi } from 'vitest'
import { newId } from '../../ids.ts'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { callsIn, feedbackIn, publishing } from '../test-objects.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
})
const objects = publishing(server)

/** A busy machine takes longer than the second that is waited for by itself. */
const PATIENCE = { timeout: 10_000 }

async function record(project: string, calls: readonly Fields[]): Promise<string[]> {
  const batch = calls.map((fields) => ({
    id: newId(),
    trace_id: newId(),
    op_name: `weave:///${project}/op/answer:abc`,
    started_at: '2026-01-01T00:00:00Z',
    ended_at: '2026-01-01T00:00:01Z',
    attributes: {},
    inputs: {},
    output: null,
    summary: {},
    ...fields,
  }))
  await replyOf(await server.post(`/v2/${project}/calls/complete`, { batch }))
  return batch.map(({ id }) => id)
}

/** The feedback of a project, once there is so much. */
function said(project: string, count: number): Promise<Fields[]> {
  return vi.waitFor(
    async () => {
      const feedback = await feedbackIn(server, project)
      expect(feedback).toHaveLength(count)
      return feedback
    },
    { timeout: 10_000 },
  )
}

describe('POST /calls/score', () => {
  it('200 applies each scorer to each call, as a call and as feedback', async () => {
    const project = server.newProject()
    const [first = '', second = ''] = await record(project, [
      { inputs: { target: 'x' }, output: 'x' },
      { inputs: { target: 'x' }, output: 'y' },
    ])
    const exact = await objects.scorer(project, 'ExactMatchScorer')
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      name: 'judge',
      model: await objects.model(project),
      scoring_prompt: 'say {output} is not {target}',
    })
    const request = { project_id: project, call_ids: [first, second, first], scorer_refs: [exact, judge] }
    expect(await replyOf(await server.post('/calls/score', request))).toEqual({})
    const feedback = await said(project, 4)
    const shown = feedback.map((one) => [
      String(one['weave_ref']).slice(-36),
      one['feedback_type'],
      one['payload'],
    ])
    expect(shown).toEqual(
      expect.arrayContaining([
        [first, 'wandb.runnable.ExactMatchScorer', { output: { match: true } }],
        [second, 'wandb.runnable.ExactMatchScorer', { output: { match: false } }],
        [first, 'wandb.runnable.LLMAsAJudgeScorer', { output: 'x is not x' }],
        [second, 'wandb.runnable.LLMAsAJudgeScorer', { output: 'y is not x' }],
      ]),
    )
    const calls = await callsIn(server, project)
    for (const { call_ref, runnable_ref } of feedback) {
      const scoring = calls.find(({ id }) => String(call_ref).endsWith(String(id)))
      expect(scoring?.['inputs']).toMatchObject({ self: runnable_ref, inputs: { target: 'x' } })
      expect(scoring?.['exception']).toBeNull()
    }
  })

  it('200 keeps why a scorer cannot score in its call, without feedback', async () => {
    const project = server.newProject()
    const [id] = await record(project, [{ output: 'x' }])
    const scorer_refs = [await objects.scorer(project, 'ExactMatchScorer')]
    await replyOf(await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs }))
    await vi.waitFor(async () => {
      const scorings = (await callsIn(server, project)).filter((call) => call['id'] !== id)
      expect(scorings).toEqual([expect.objectContaining({ exception: expect.stringMatching('no target') })])
    }, PATIENCE)
    expect(await feedbackIn(server, project)).toEqual([])
  })

  it('400 and 404 for what cannot score or be scored, and nothing is scored', async () => {
    const project = server.newProject()
    const [id = ''] = await record(project, [{ output: 'x' }])
    const [theirs = ''] = await record(server.newProject(), [{ output: 'x' }])
    const scorer = await objects.scorer(project, 'ValidJSONScorer')
    const code = await objects.scorer(project, 'TheirScorer', { score: 'weave:///a/b/op/x:y' })
    const refused: [string[], string[], number][] = [
      [[id, newId()], [scorer], 404],
      [[id, theirs], [scorer], 404],
      [[id], [scorer, `weave:///${project}/object/nothing:v0`], 404],
      [[id], [code], 400],
      [[id], ['nothing'], 400],
      [[id], [await objects.scorer(server.newProject(), 'ValidJSONScorer')], 400],
      [[id], [await objects.scorer(project, 'RegexScorer', { pattern: '(' })], 400],
      [[], [scorer], 400],
      [[id], [], 400],
    ]
    for (const [call_ids, scorer_refs, status] of refused) {
      const response = await server.post('/calls/score', { project_id: project, call_ids, scorer_refs })
      expect([response.status, call_ids, scorer_refs]).toEqual([status, call_ids, scorer_refs])
    }
    expect(await callsIn(server, project)).toHaveLength(1)
  })

  it('422 for missing fields and wrong types', async () => {
    for (const body of [{}, { project_id: 'a/b', call_ids: 'x', scorer_refs: [] }])
      expect((await server.post('/calls/score', body)).status).toBe(422)
  })
})

describe('monitors', () => {
  const monitor = (project: string, scorers: readonly string[], fields: Fields = {}): Promise<string> =>
    objects.publish(project, 'watch', {
      _type: 'Monitor',
      active: true,
      scorers,
      op_names: [],
      sampling_rate: 1,
      query: null,
      _class_name: 'Monitor',
      _bases: ['Object', 'BaseModel'],
      ...fields,
    })

  it('score new calls of their ops that their query matches, once', async () => {
    const project = server.newProject()
    const scorer = await objects.scorer(project, 'JSONSchemaScorer', { json_schema: { type: 'object' } })
    const $gt = [{ _type: 'GetFieldOperator', $getField: 'output.n' }, { $literal: 1 }]
    const ref = await monitor(project, [scorer], {
      op_names: [`weave:///${project}/op/answer:*`],
      query: { _type: 'Query', $expr: { _type: 'GtOperation', $gt }, _class_name: 'Query' },
    })
    const ended = await record(project, [
      { output: { n: 1 } },
      { output: { n: 2 } },
      { output: { n: 2 }, op_name: 'other' },
    ])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({ trigger_ref: ref, weave_ref: expect.stringContaining(ended[1] ?? '') })
    const end = { project_id: project, id: ended[1], ended_at: '2026-01-01T00:00:01Z', summary: {} }
    await replyOf(await server.post('/call/end', { end }))
    const [next = ''] = await record(project, [{ output: { n: 3 } }])
    const all = await said(project, 2)
    expect(all.map((one) => String(one['weave_ref']).slice(-36)).sort()).toEqual([ended[1], next].sort())
  })

  it('score nothing once they are inactive or deleted, or at a rate of 0', async () => {
    const project = server.newProject()
    const scorer = await objects.scorer(project, 'ValidJSONScorer')
    await monitor(project, [scorer])
    await record(project, [{ output: '{}' }])
    await said(project, 1)
    await monitor(project, [scorer], { active: false })
    await record(project, [{ output: '{}' }])
    await monitor(project, [scorer], { sampling_rate: 0 })
    await record(project, [{ output: '{}' }])
    await replyOf(await server.post('/obj/delete', { project_id: project, object_id: 'watch' }))
    await record(project, [{ output: '{}' }])
    await vi.waitFor(async () => {
      const left = await server.stores.control.selectFrom('monitored_calls').selectAll().execute()
      expect(left.filter(({ project_id }) => project_id === project)).toEqual([])
    }, PATIENCE)
    expect(await feedbackIn(server, project)).toHaveLength(1)
  })

  it('score without calls of their own where they are not traced', async () => {
    const project = server.newProject()
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')], { is_traced: false })
    await record(project, [{ output: '{}' }])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({ call_ref: null, payload: { output: { json_valid: true } } })
    expect(await callsIn(server, project)).toHaveLength(1)
  })

  const pendingIn = async (project: string) => {
    const tasks = await server.stores.control.selectFrom('scoring_tasks').selectAll().execute()
    return tasks.filter(({ project_id }) => project_id === project).map(({ call_id }) => call_id)
  }

  it('score the last call of a thread once no other follows, and what is in none at once', async () => {
    const project = server.newProject()
    const scorer_debounce_config = { aggregation_field: 'thread_id', timeout_seconds: 3600 }
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')], { scorer_debounce_config })
    const [, second = '', other = '', alone = ''] = await record(project, [
      { thread_id: 'a', ended_at: '2026-01-01T00:00:01Z' },
      { thread_id: 'a', ended_at: '2026-01-01T00:00:02Z' },
      { thread_id: 'b' },
      { output: '{}' },
    ])
    await vi.waitFor(async () => expect(await pendingIn(project)).toHaveLength(2), PATIENCE)
    expect((await pendingIn(project)).sort()).toEqual([second, other].sort())
    const [third = ''] = await record(project, [{ thread_id: 'a' }])
    await vi.waitFor(async () => expect(await pendingIn(project)).toContain(third), PATIENCE)
    expect((await pendingIn(project)).sort()).toEqual([other, third].sort())
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({ weave_ref: expect.stringContaining(alone) })
  })

  it('score the last call of a trace after the time that they wait', async () => {
    const project = server.newProject()
    const scorer_debounce_config = {
      aggregation_field: 'trace_id',
      aggregation_method: 'last_message',
      timeout_seconds: 0.1,
    }
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')], { scorer_debounce_config })
    const trace_id = newId()
    const [, last = ''] = await record(project, [
      { trace_id, output: '{}' },
      { trace_id, output: '{}', ended_at: '2026-01-01T00:00:02Z' },
    ])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({ weave_ref: expect.stringContaining(last) })
    expect(await pendingIn(project)).toEqual([])
  })

  it('score nothing where they ask for what nobody has said how to do', async () => {
    const project = server.newProject()
    const config = { aggregation_field: 'trace_id', timeout_seconds: 0 }
    const scorers = [await objects.scorer(project, 'ValidJSONScorer')]
    for (const scorer_debounce_config of [
      { ...config, aggregation_method: 'all_messages' },
      { ...config, aggregation_field: 'wb_user_id' },
    ]) {
      await monitor(project, scorers, { scorer_debounce_config })
      await record(project, [{ output: '{}' }])
    }
    await monitor(project, scorers, { _class_name: 'ClassifierMonitor', _bases: ['Monitor', 'Object'] })
    await record(project, [{ output: '{}' }])
    const noted = await server.stores.control.selectFrom('monitored_calls').selectAll().execute()
    expect(noted.filter(({ project_id }) => project_id === project)).toEqual([])
    expect(await pendingIn(project)).toEqual([])
  })
})
