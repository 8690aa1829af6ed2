import { describe, expect, it } from 'vitest'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf } from '../../testing.ts'
import { callsIn } from '../test-objects.ts'
import { useMonitoredProjects } from './use-monitored-projects.ts'

const { server, objects, provider, record, said, monitor, pendingIn } = await useMonitoredProjects()

/** Publishes a judge under the name of an object; resolves with its ref. */
function publishJudge(project: string, object: string, fields: Fields): Promise<string> {
  const bases = ['Scorer', 'Object', 'BaseModel']
  return objects.publish(project, object, {
    _type: 'LLMAsAJudgeScorer',
    _class_name: 'LLMAsAJudgeScorer',
    _bases: bases,
    ...fields,
  })
}

describe('monitors, and GET /v2/{entity}/{project}/monitors', () => {
  it('score all calls of a thread together where they ask for all messages', async () => {
    const project = server.newProject()
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      model: await objects.model(project),
      scoring_prompt: 'say {output}',
    })
    const config = { aggregation_field: 'thread_id', aggregation_method: 'all_messages' }
    const wait = (timeout_seconds: number) =>
      monitor(project, [judge], { scorer_debounce_config: { ...config, timeout_seconds } })
    await wait(3600)
    const at = (second: number) => ({ thread_id: 'a', ended_at: `2026-01-01T00:00:0${second}Z` })
    const [, second = ''] = await record(project, [
      { ...at(1), output: 'one' },
      { ...at(2), output: 'two' },
    ])
    await eventually(async () => expect(await pendingIn(project)).toEqual([second]))
    await wait(0.1)
    const [third = ''] = await record(project, [{ ...at(3), output: 'three' }])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({
      weave_ref: expect.stringContaining(third),
      payload: { output: "['one', 'two', 'three']" },
    })
    const scoring = (await callsIn(server, project)).find(({ op_name }) => String(op_name).includes('Judge'))
    expect(scoring?.['inputs']).toMatchObject({
      inputs: { messages: [{ output: 'one' }, { output: 'two' }, { output: 'three' }] },
    })
  })

  it('run the classifiers of one model together, and tag the calls to which they apply', async () => {
    const project = server.newProject()
    const model = await objects.model(project)
    const classifier = (name: string, scoring_prompt: string) =>
      publishJudge(project, name, { name, model, scoring_prompt })
    const rude = await classifier('rude', 'yes: is {output} rude?')
    const messages = [{ role: 'user', content: 'no: is {output} late?' }]
    const prompt = { _type: 'MessagesPrompt', _class_name: 'MessagesPrompt', messages }
    const late = await classifier('late', await objects.publish(project, 'lateness', prompt))
    const bases = ['Monitor', 'Object', 'BaseModel']
    const ref = await monitor(project, [rude, late], { _class_name: 'ClassifierMonitor', _bases: bases })
    const asked = provider.requests.length
    const [id = ''] = await record(project, [{ output: 'that', inputs: { question: 'which?' } }])
    const feedback = await said(project, 2)
    const shown = feedback.map(({ runnable_ref, payload, trigger_ref }) => [
      runnable_ref,
      payload,
      trigger_ref,
    ])
    const verdict = { confidence: 0.5, reason: 'as asked' }
    expect(shown).toEqual(
      expect.arrayContaining([
        [rude, { output: { is_match: true, ...verdict } }, ref],
        [late, { output: { is_match: false, ...verdict } }, ref],
      ]),
    )
    expect(feedback.every(({ weave_ref }) => String(weave_ref).endsWith(id))).toBe(true)
    expect(provider.requests).toHaveLength(asked + 1)
    expect(JSON.stringify(provider.requests.at(-1)?.body)).toMatch(/is that rude\?.*is that late\?/)
  })

  it('tell classifiers of the same name apart by the names of their objects', async () => {
    const project = server.newProject()
    const model = await objects.model(project)
    const classifier = (object: string, scoring_prompt: string) =>
      publishJudge(project, object, { name: 'rude', model, scoring_prompt })
    const words = await classifier('words', 'yes: is {output} rude?')
    const tone = await classifier('tone', 'no: is {output} rude?')
    const bases = ['Monitor', 'Object', 'BaseModel']
    await monitor(project, [words, tone], { _class_name: 'ClassifierMonitor', _bases: bases })
    await record(project, [{ output: 'that' }])
    const shown = (await said(project, 2)).map((one) => [
      one['runnable_ref'],
      one['payload'],
      one['scorer_tags'],
    ])
    expect(shown).toEqual(
      expect.arrayContaining([
        [words, { output: expect.objectContaining({ is_match: true }) }, ['words']],
        [tone, { output: expect.objectContaining({ is_match: false }) }, undefined],
      ]),
    )
  })

  it('score turns of agents when they end, with their messages', async () => {
    const project = server.newProject()
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      model: await objects.model(project),
      scoring_prompt: 'say {output} to {input_messages}',
    })
    await monitor(project, [judge], { op_names: ['weave.genai.turn_ended'] })
    const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
    const message = (role: string, content: string) =>
      JSON.stringify([{ role, parts: [{ type: 'text', content }] }])
    const span = (spanId: string, fields: object) => ({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId,
      name: 'invoke_agent helper',
      startTimeUnixNano: '1790000000000000000',
      endTimeUnixNano: '1790000001000000000',
      attributes: [],
      ...fields,
    })
    const root = 'b7ad6b7169203331'
    const chat = [
      attribute('gen_ai.input.messages', message('user', 'hi')),
      attribute('gen_ai.output.messages', message('assistant', 'hello')),
    ]
    const spans = [
      span('b7ad6b7169203332', { parentSpanId: root, name: 'chat m', attributes: chat }),
      span('b7ad6b7169203339', { traceId: '0af7651916cd43dd8448eb211c80319d', endTimeUnixNano: '0' }),
      span(root, { attributes: [attribute('gen_ai.conversation.id', 'c')] }),
    ]
    const sent = await server.request('/agents/otel/v1/traces', {
      method: 'POST',
      headers: { project_id: project, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
    })
    expect(sent.status).toBe(200)
    await record(project, [{ output: 'no turn' }])
    const [feedback] = await said(project, 1)
    expect(feedback).toMatchObject({
      weave_ref: expect.stringContaining(root),
      payload: { output: "hello to [{'role': 'user', 'content': 'hi', 'finish_reason': ''}]" },
    })
  })

  it('report what they cannot score when they are published, and at GET monitors', async () => {
    const project = server.newProject()
    const works = await objects.scorer(project, 'ValidJSONScorer')
    const code = await objects.scorer(project, 'TheirScorer', { score: 'weave:///a/b/op/x:y' })
    const json_schema = { properties: { a: { $ref: 'http://[' } } }
    const schema = await objects.scorer(project, 'JSONSchemaScorer', { json_schema })
    const publish = async (object_id: string, fields: Fields): Promise<unknown> => {
      const val = {
        active: true,
        scorers: [works],
        op_names: [],
        _class_name: 'Monitor',
        _bases: ['Object', 'BaseModel'],
        ...fields,
      }
      const reply = await replyOf(
        await server.post('/obj/create', { obj: { project_id: project, object_id, val } }),
      )
      return reply['warnings']
    }
    expect(await publish('works', {})).toBeUndefined()
    expect(await publish('schema', { scorers: [schema] })).toBeUndefined()
    expect(await publish('off', { active: false, scorers: [] })).toBeUndefined()
    expect(await publish('code', { scorers: [works, code] })).toEqual([
      expect.stringContaining('Python code'),
    ])
    expect(await publish('rate', { sampling_rate: 2 })).toEqual([expect.stringMatching(/^sampling_rate: /)])
    const query = { $expr: { $eq: [{ $getField: 'nonsense' }, { $literal: 1 }] } }
    expect(await publish('query', { query })).toEqual([expect.stringMatching(/^query: .*nonsense/)])
    const bases = ['Monitor', 'Object', 'BaseModel']
    expect(await publish('other', { _class_name: 'TheirMonitor', _bases: bases })).toEqual([
      'This server runs monitors of the classes Monitor and ClassifierMonitor only',
    ])
    const [id] = await record(project, [{ output: '{}' }])
    await replyOf(
      await server.post('/calls/score', { project_id: project, call_ids: [id], scorer_refs: [schema] }),
    )
    const states = await eventually(async () => {
      const reply = await server.request(`/v2/${project}/monitors`)
      const { monitors } = await replyOf<{ monitors: Fields[] }>(reply)
      const byName = new Map(monitors.map((one) => [one['object_id'], one]))
      expect(byName.get('works')).toMatchObject({ scored: 1, waiting: 0 })
      expect(byName.get('query')).toMatchObject({ failed: 1 })
      expect(byName.get('code')).toMatchObject({ scored: 1, failed: 1 })
      expect(byName.get('schema')).toMatchObject({ scored: 0, failed: 1 })
      return byName
    })
    expect(states.get('works')).toMatchObject({ is_active: true, problems: [], last_error: null })
    expect(states.get('off')).toMatchObject({ is_active: false, problems: [], last_run_at: null })
    const failing = states.get('code')
    expect(failing?.['last_error']).toContain('Python code')
    expect(failing).toMatchObject({
      last_error_at: expect.any(String),
      last_error_digest: failing?.['digest'],
    })
    expect(await publish('code', { scorers: [works] })).toBeUndefined()
    const { monitors } = await replyOf<{ monitors: Fields[] }>(
      await server.request(`/v2/${project}/monitors`),
    )
    const repaired = monitors.find(({ object_id }) => object_id === 'code')
    expect(repaired).toMatchObject({ last_error_digest: failing?.['digest'] })
    expect(repaired?.['digest']).not.toBe(failing?.['digest'])
    expect(states.get('schema')?.['last_error']).toContain(
      'JSONSchemaScorer: json_schema is not a JSON schema: ',
    )
    expect(states.get('other')).toMatchObject({ class_name: 'TheirMonitor', problems: [expect.any(String)] })
  })

  it('run or not as they were published last, also where that is what they were before', async () => {
    const project = server.newProject()
    const scorers = [await objects.scorer(project, 'ValidJSONScorer')]
    const isActive = async () => {
      const { monitors } = await replyOf<{ monitors: Fields[] }>(
        await server.request(`/v2/${project}/monitors`),
      )
      return monitors.map(({ is_active }) => is_active)
    }
    const off = await monitor(project, scorers, { active: false })
    await monitor(project, scorers)
    expect(await isActive()).toEqual([true])
    expect(await monitor(project, scorers, { active: false })).toBe(off)
    expect(await isActive()).toEqual([false])
    await record(project, [{ output: 'while it is off' }])
    await monitor(project, scorers)
    expect(await isActive()).toEqual([true])
    const [id] = await record(project, [{ output: '{}' }])
    expect(await said(project, 1)).toMatchObject([{ weave_ref: expect.stringContaining(String(id)) }])
    const latest = { project_id: project, object_id: 'watch', digest: 'latest' }
    const { obj } = await replyOf<{ obj: Fields }>(await server.post('/obj/read', latest))
    expect(obj).toMatchObject({ version_index: 1, val: { active: true } })
  })

  it('give a score up that was begun too often, with the reason in its call', async () => {
    const project = server.newProject()
    const scorer = await objects.scorer(project, 'ValidJSONScorer')
    const config = { aggregation_field: 'thread_id', timeout_seconds: 3600 }
    await monitor(project, [scorer], { scorer_debounce_config: config })
    await record(project, [{ thread_id: 'a', output: '{}' }])
    await eventually(async () => expect(await pendingIn(project)).toHaveLength(1))
    // As if the server had ended during every attempt.
    await server.stores.control
      .updateTable('jobs')
      .set({ attempts: 12, run_at: '2026-01-01T00:00:00Z' })
      .where('kind', '=', 'score_call')
      .where('group_key', '=', `///${project}/object/watch`)
      .execute()
    await record(project, [{ output: '{}' }])
    await eventually(async () => {
      const exceptions = (await callsIn(server, project)).map(({ exception }) => exception)
      expect(exceptions).toContainEqual(expect.stringContaining('the server ended too often'))
      expect(await pendingIn(project)).toEqual([])
    })
  })

  it('score calls of any thread, beside a monitor that asks for a field with U+0000', async () => {
    const project = server.newProject()
    const scorers = [await objects.scorer(project, 'ValidJSONScorer')]
    const config = { aggregation_field: 'thread_id', timeout_seconds: 0.1 }
    await monitor(project, scorers, { scorer_debounce_config: config })
    const query = { $expr: { $eq: [{ $getField: 'no\0pe' }, { $literal: 1 }] } }
    const bad = { active: true, scorers, query, _class_name: 'Monitor', _bases: ['Object', 'BaseModel'] }
    await objects.publish(project, 'bad', bad)
    await record(project, [
      { thread_id: 'a\0b', output: '{}' },
      { thread_id: 'x'.repeat(4000), output: '{}' },
    ])
    await said(project, 2)
    const { monitors } = await replyOf<{ monitors: Fields[] }>(
      await server.request(`/v2/${project}/monitors`),
    )
    const states = new Map(monitors.map((one) => [one['object_id'], one]))
    expect(states.get('watch')).toMatchObject({ failed: 0, problems: [] })
    expect(states.get('bad')).toMatchObject({ last_error: expect.stringContaining('no\uFFFDpe') })
  })

  it('drop the scores that wait once they are switched off or deleted, and count them until then', async () => {
    const project = server.newProject()
    const scorers = [await objects.scorer(project, 'ValidJSONScorer')]
    const scorer_debounce_config = { aggregation_field: 'thread_id', timeout_seconds: 3600 }
    const waiting = async () => {
      const reply = await server.request(`/v2/${project}/monitors`)
      const { monitors } = await replyOf<{ monitors: Fields[] }>(reply)
      return monitors.map((one) => [one['is_active'], one['waiting'], one['scored']])
    }
    const { control } = server.stores
    const group = `///${project}/object/watch`
    const dropped = async (stop: () => Promise<unknown>) => {
      await monitor(project, scorers, { scorer_debounce_config })
      await record(project, [{ thread_id: 'a', output: '{}' }])
      await eventually(async () => expect(await waiting()).toEqual([[true, 1, 0]]))
      await stop()
      const past = '2026-01-01T00:00:00Z'
      await control.updateTable('jobs').set({ run_at: past }).where('group_key', '=', group).execute()
      // Has the server look for jobs that are due.
      const [id] = await record(project, [{ output: '{}' }])
      const request = { project_id: project, call_ids: [id], scorer_refs: scorers }
      await replyOf(await server.post('/calls/score', request))
      await eventually(async () => {
        const jobs = control.selectFrom('jobs').select('id').where('group_key', '=', group)
        expect(await jobs.execute()).toEqual([])
      })
    }
    await dropped(async () => {
      await monitor(project, scorers, { scorer_debounce_config, active: false })
      expect(await waiting()).toEqual([[false, 1, 0]])
    })
    expect(await waiting()).toEqual([[false, 0, 0]])
    await dropped(async () => {
      const named = { project_id: project, object_id: 'watch' }
      await replyOf(await server.post('/obj/delete', named))
    })
    expect(await said(project, 2)).toMatchObject([{ trigger_ref: null }, { trigger_ref: null }])
  })

  it('score the last call to end of a thread, and all in that order, whichever was written first', async () => {
    const project = server.newProject()
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      model: await objects.model(project),
      scoring_prompt: 'say {output}',
    })
    const bases = ['Object', 'BaseModel']
    const common = { active: true, scorers: [judge], _class_name: 'Monitor', _bases: bases }
    const publish = async (timeout_seconds: number) => {
      for (const aggregation_method of ['last_message', 'all_messages'])
        await objects.publish(project, aggregation_method, {
          ...common,
          scorer_debounce_config: { aggregation_field: 'thread_id', aggregation_method, timeout_seconds },
        })
    }
    await publish(3600)
    const at = (second: number) => ({ thread_id: 'a', ended_at: `2026-01-01T00:00:0${second}Z` })
    const [last = ''] = await record(project, [{ ...at(9), output: 'last' }])
    await eventually(async () => expect(await pendingIn(project)).toEqual([last, last]))
    await publish(0.1)
    await record(project, [
      { ...at(2), output: 'second' },
      { ...at(1), output: 'first' },
    ])
    const feedback = await said(project, 2)
    expect(feedback.every(({ weave_ref }) => String(weave_ref).endsWith(last))).toBe(true)
    const outputs = feedback.map(({ payload }) => payload)
    expect(outputs).toContainEqual({ output: 'last' })
    expect(outputs).toContainEqual({ output: "['first', 'second', 'last']" })
  })
})
