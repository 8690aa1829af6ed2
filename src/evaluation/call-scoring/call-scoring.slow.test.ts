import { describe, expect, it, vi } from 'vitest'
import { newId } from '../../ids.ts'
import { PIXEL } from '../../inference/playground/fake-provider.ts'
import { eventually } from '../../test-eventually.ts'
import { replyOf } from '../../testing.ts'
import { finishedCall } from '../../trace/test-calls.ts'
import { callsIn, feedbackIn } from '../test-objects.ts'
import { useMonitoredProjects } from './use-monitored-projects.ts'

const { provider, server, objects, record, said, monitor, pendingIn } = await useMonitoredProjects()

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
    await eventually(async () => {
      const scorings = (await callsIn(server, project)).filter((call) => call['id'] !== id)
      expect(scorings).toEqual([expect.objectContaining({ exception: expect.stringMatching('no target') })])
    })
    expect(await feedbackIn(server, project)).toEqual([])
  })

  it('200 asks a judge once that answers with something else than JSON', async () => {
    const project = server.newProject()
    const [id] = await record(project, [{ output: 'x' }])
    const model = await objects.model(project, { response_format: 'json_object' })
    const judge = { name: 'judge', model, scoring_prompt: 'say what is no JSON' }
    const scorer_refs = [await objects.scorer(project, 'LLMAsAJudgeScorer', judge)]
    const before = provider.requests.length
    await replyOf(await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs }))
    await eventually(async () => {
      const exceptions = (await callsIn(server, project)).map(({ exception }) => exception)
      expect(exceptions).toContainEqual(expect.stringContaining('The model was asked for JSON'))
      expect(await pendingIn(project)).toEqual([])
    })
    expect(provider.requests.slice(before)).toHaveLength(1)
  })

  it('200 gives up a rule without end, with the reason in its call, and answers meanwhile', async () => {
    const project = server.newProject()
    const [id] = await record(project, [{ output: JSON.stringify(`${'a'.repeat(45)}!`) }])
    const json_schema = { type: 'string', pattern: '^(a+)+$' }
    const scorer_refs = [await objects.scorer(project, 'JSONSchemaScorer', { json_schema })]
    await replyOf(await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs }))
    await vi.waitFor(
      async () => {
        const exceptions = (await callsIn(server, project)).map(({ exception }) => exception)
        expect(exceptions).toContainEqual(expect.stringContaining('takes more than'))
      },
      { timeout: 200_000 },
    )
  })

  it('200 shows a judge the images that it asks for', async () => {
    const project = server.newProject()
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } }
    const messages = [{ role: 'user', content: [image] }]
    const [id] = await record(project, [{ inputs: { messages }, output: 'a pixel' }])
    const fields = { model: await objects.model(project), scoring_prompt: 'Is this {output}?' }
    const sees = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      ...fields,
      enable_image_input_scoring: true,
    })
    await replyOf(
      await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs: [sees] }),
    )
    await said(project, 1)
    const text = { type: 'text', text: 'Is this a pixel?' }
    expect(provider.requests.at(-1)?.body['messages']).toEqual([{ role: 'user', content: [text, image] }])
  })

  it('200 asks a judge with the prompt that its ref names', async () => {
    const project = server.newProject()
    const [id] = await record(project, [{ inputs: { question: 'Capital?' }, output: 'Paris' }])
    const parts = [
      { type: 'text', text: 'Is {output} right?' },
      { type: 'image_url', image_url: { url: 'x' } },
    ]
    const messages = [
      { role: 'system', content: 'You know {question}' },
      { role: 'user', name: 'of_{output}', content: parts },
    ]
    const model = await objects.model(project)
    const said: unknown[] = []
    for (const [name, value] of Object.entries({
      MessagesPrompt: { messages },
      StringPrompt: { content: '{output}?' },
    })) {
      const scoring_prompt = await objects.publish(project, name, {
        _type: name,
        _class_name: name,
        ...value,
      })
      const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', { model, scoring_prompt })
      const asked = provider.requests.length
      const request = { project_id: project, call_ids: [id], scorer_refs: [judge] }
      await replyOf(await server.post('/calls/score', request))
      await eventually(async () => expect(provider.requests.length).toBe(asked + 1))
      said.push(provider.requests.at(-1)?.body['messages'])
    }
    const [text, image] = parts
    expect(said).toEqual([
      [
        { role: 'system', content: 'You know Capital?' },
        { role: 'user', name: 'of_Paris', content: [{ ...text, text: 'Is Paris right?' }, image] },
      ],
      [{ role: 'user', content: 'Paris?' }],
    ])
  })

  it('413 for more scorers than a monitor has, before any of them is looked for', async () => {
    const project_id = server.newProject()
    const call_ids = await record(project_id, [{ output: 'x' }])
    const refs = Array.from({ length: 101 }, (_, n) => `weave:///${project_id}/object/none:v${n}`)
    const statusOf = async (scorer_refs: readonly string[]) =>
      (await server.post('/calls/score', { project_id, call_ids, scorer_refs })).status
    expect(await statusOf(refs)).toBe(413)
    expect(await statusOf([...refs.slice(1), ...refs.slice(1)])).toBe(404)
  })

  it('400 and 404 for a scorer or call that cannot be used, and nothing is scored', async () => {
    const project = server.newProject()
    const [id = ''] = await record(project, [{ output: 'x' }])
    const [theirs = ''] = await record(server.newProject(), [{ output: 'x' }])
    const scorer = await objects.scorer(project, 'ValidJSONScorer')
    const code = await objects.scorer(project, 'TheirScorer', { score: 'weave:///a/b/op/x:y' })
    const model = await objects.model(project)
    const judge = (scoring_prompt: unknown): Promise<string> =>
      objects.scorer(project, 'LLMAsAJudgeScorer', { model, scoring_prompt })
    const refused: [string[], string[], number][] = [
      [[id, newId()], [scorer], 404],
      [[id, theirs], [scorer], 404],
      [[id], [scorer, `weave:///${project}/object/nothing:v0`], 404],
      [[id], [code], 400],
      [[id], ['nothing'], 400],
      [[id], [await objects.scorer(server.newProject(), 'ValidJSONScorer')], 400],
      [[id], [await objects.scorer(project, 'RegexScorer', { pattern: '(' })], 400],
      [[id], [await judge('')], 400],
      [[id], [await judge({ text: 'x' })], 400],
      [[id], [await judge(model)], 400],
      [[id], [await judge(`weave:///${project}/object/nothing:v0`)], 404],
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

  it('score calls whose end comes before their start', async () => {
    const project = server.newProject()
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')])
    const { id, op_name, trace_id, started_at, ended_at } = finishedCall()
    const named = { project_id: project, id }
    const end = { ...named, ended_at, output: '{}', summary: {} }
    await replyOf(await server.post('/call/end', { end }))
    const { control } = server.stores
    await eventually(async () => {
      const notes = control.selectFrom('monitored_calls').selectAll().where('call_id', '=', id)
      expect(await notes.execute()).toMatchObject([{ pending_write: 'unstarted' }])
    })
    const start = { ...named, op_name, trace_id, started_at, attributes: {}, inputs: {} }
    await replyOf(await server.post('/call/start', { start }))
    // As if the time of a write had passed since.
    const past = '2026-01-01T00:00:00.000000Z'
    await control.updateTable('monitored_calls').set({ noted_at: past }).where('call_id', '=', id).execute()
    await eventually(async () => {
      await control.updateTable('jobs').set({ run_at: past }).where('kind', '=', 'match_monitors').execute()
      expect(await feedbackIn(server, project)).toHaveLength(1)
    })
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
    await eventually(async () => {
      const left = await server.stores.control.selectFrom('monitored_calls').selectAll().execute()
      expect(left.filter(({ project_id }) => project_id === project)).toEqual([])
    })
    expect(await feedbackIn(server, project)).toHaveLength(1)
  })

  it('score without making calls where they are not traced', async () => {
    const project = server.newProject()
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')], { is_traced: false })
    await record(project, [{ output: '{}' }])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({ call_ref: null, payload: { output: { json_valid: true } } })
    expect(await callsIn(server, project)).toHaveLength(1)
  })

  it('score the last call of a thread once no other follows, and calls without a thread at once', async () => {
    const project = server.newProject()
    const scorer_debounce_config = { aggregation_field: 'thread_id', timeout_seconds: 3600 }
    await monitor(project, [await objects.scorer(project, 'ValidJSONScorer')], { scorer_debounce_config })
    const [, second = '', other = '', alone = ''] = await record(project, [
      { thread_id: 'a', ended_at: '2026-01-01T00:00:01Z' },
      { thread_id: 'a', ended_at: '2026-01-01T00:00:02Z' },
      { thread_id: 'b' },
      { output: '{}' },
    ])
    await eventually(async () => expect(await pendingIn(project)).toHaveLength(2))
    expect((await pendingIn(project)).sort()).toEqual([second, other].sort())
    const [third = ''] = await record(project, [{ thread_id: 'a', ended_at: '2026-01-01T00:00:03Z' }])
    await eventually(async () => expect(await pendingIn(project)).toContain(third))
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
})
