import { afterAll, describe, expect, it, vi } from 'vitest'
import { StoreFailed } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { openFakeProvider } from '../../inference/playground/fake-provider.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { microsOf } from '../../time.ts'
import { CALL_ROWS } from '../../trace/calls/sql/table.ts'
import { callsIn, feedbackIn, publishing } from '../test-objects.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

/** How often the Python of scorers is still missing when it is looked for. */
let missing = 0

const server = useTestServer({
  // How code is confined is tested in engine/tests.
  scorerPython: { find: () => (missing-- > 0 ? undefined : 'python3'), confinement: 'none' },
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
})
const objects = publishing(server)

/** A busy machine takes longer than vitest's default of a second. */
const WAIT_MAX = { timeout: 60_000 }

/** The op of a call, without its project and version. */
const opOf = (call: Fields): string | undefined => /\/op\/([^:]+):/.exec(String(call['op_name']))?.[1]

interface Status {
  status: Fields & { code: string }
}

async function statusOf(project_id: string, call_id: string): Promise<Status['status']> {
  return (await replyOf<Status>(await server.post('/evaluations/status', { project_id, call_id }))).status
}

async function start(project: string, evaluation_ref: string, model_ref: string): Promise<string> {
  const request = { project_id: project, evaluation_ref, model_ref }
  const { call_id } = await replyOf(await server.post('/evaluations/evaluate_model', request))
  return String(call_id)
}

/** Evaluates to the end and returns the last status. */
async function evaluate(project: string, evaluation: string, model: string) {
  const id = await start(project, evaluation, model)
  const status = await eventually(async () => {
    const now = await statusOf(project, id)
    expect(now.code).not.toBe('running')
    return now
  })
  return { id, status }
}

describe('POST /evaluations/evaluate_model', () => {
  it('200 runs the model on every row, scores its answers, and summarizes', async () => {
    const project = server.newProject()
    const rows = [
      { user_input: 'say 12', target: '12' },
      { user_input: 'say {"a": 1}', target: 'x' },
      { user_input: 'say no', target: 'NO' },
    ]
    const scorers = await Promise.all([
      objects.scorer(project, 'ExactMatchScorer', { ignore_case: true }),
      objects.scorer(project, 'ValidJSONScorer'),
      objects.scorer(project, 'LevenshteinScorer'),
      objects.scorer(project, 'LLMAsAJudgeScorer', {
        name: 'judge',
        model: await objects.model(project, { response_format: 'json_object' }),
        scoring_prompt: 'say {{"stars": 4, "said": "{target}"}}',
      }),
    ])
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), scorers)
    const { id, status } = await evaluate(project, evaluation, await objects.model(project))
    expect(status).toEqual({
      code: 'complete',
      output: {
        ExactMatchScorer: { match: { true_count: 2, true_fraction: 2 / 3 } },
        ValidJSONScorer: { json_valid: { true_count: 2, true_fraction: 2 / 3 } },
        LevenshteinScorer: { levenshtein_distance: { mean: 10 / 3 } },
        judge: { stars: { mean: 4 } },
        model_latency: { mean: expect.any(Number) },
      },
    })
    const calls = await callsIn(server, project)
    const counts = Map.groupBy(calls, (call) => opOf(call) ?? call['op_name'])
    expect([...counts].map(([op, own]) => [op, own.length]).sort()).toEqual([
      ['Evaluation.evaluate', 1],
      ['Evaluation.predict_and_score', 3],
      ['Evaluation.summarize', 1],
      ['ExactMatchScorer.score', 3],
      ['LLMAsAJudgeScorer.score', 3],
      ['LLMStructuredCompletionModel.predict', 3],
      ['LevenshteinScorer.score', 3],
      ['ValidJSONScorer.score', 3],
      ['weave.completions_create', 6],
    ])
    expect(calls.every((call) => call['trace_id'] === id && call['exception'] === null)).toBe(true)
    const root = calls.find((call) => call['id'] === id)
    expect(root?.['summary']).toMatchObject({
      usage: { 'fake/some-model': { requests: 6, total_tokens: 6600 } },
      status_counts: { success: 26, error: 0 },
    })
    expect(await feedbackIn(server, project)).toHaveLength(12)
  })

  it('200 with the results of each of two scorers of one class; 400 where their objects have one name', async () => {
    const project = server.newProject()
    const rows = await objects.dataset(project, [{ user_input: 'say apple' }])
    const regex = (name: string, pattern: string) =>
      objects.publish(project, name, { _class_name: 'RegexScorer', _bases: ['Scorer', 'Object'], pattern })
    const [first, second] = [await regex('m1', 'a'), await regex('m2', 'zzz')]
    const model = await objects.model(project)
    const both = await objects.evaluation(project, rows, [first, second])
    const { status } = await evaluate(project, both, model)
    expect(status).toMatchObject({
      output: { m1: { match: { true_count: 1 } }, m2: { match: { true_count: 0 } } },
    })
    const versions = [first, await regex('m1', 'b')]
    const evaluation_ref = await objects.evaluation(project, rows, versions)
    const body = { project_id: project, evaluation_ref, model_ref: model }
    const refused = await server.post('/evaluations/evaluate_model', body)
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(versions.join(' and '))
  })

  it('200 evaluates a call whose first part takes as long to write as a write may', async () => {
    const project = server.newProject()
    const rows = await objects.dataset(project, [{ user_input: 'say x' }])
    const evaluation_ref = await objects.evaluation(project, rows, [])
    const model_ref = await objects.model(project)
    const { traces, control } = server.stores
    const [writing, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const insert = traces.insert.bind(traces)
    const slow = vi.spyOn(traces, 'insert').mockImplementationOnce(async (...args) => {
      writing.resolve()
      await written.promise
      return insert(...args)
    })
    const starting = start(project, evaluation_ref, model_ref)
    await writing.promise
    slow.mockRestore()
    const waiting = control.selectFrom('jobs').selectAll().where('kind', '=', 'evaluate_model')
    const jobs = await waiting.where('state', '=', 'waiting').execute()
    const [job] = jobs.filter(({ payload }) => payload.includes(project))
    // The row is made some milliseconds after its due time was determined.
    expect(microsOf(job?.run_at ?? '') - microsOf(job?.created_at ?? '')).toBeGreaterThan(590e6)
    written.resolve()
    const id = await starting
    await vi.waitFor(async () => expect((await statusOf(project, id)).code).toBe('complete'), WAIT_MAX)
  })

  it('200 fills the template with the columns of the row, and repeats rows for each trial', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ word: 'one', user_input: 'say {word}' }])
    const messages_template = [{ role: 'system', content: 'It is about {word}' }]
    const model = await objects.model(project, { messages_template, temperature: 0.5 })
    const asked = provider.requests.length
    await evaluate(project, await objects.evaluation(project, dataset, [], { trials: 2 }), model)
    expect(provider.requests.slice(asked).map(({ body }) => body)).toEqual(
      Array.from({ length: 2 }, () => ({
        model: 'some-model',
        temperature: 0.5,
        messages: [
          { role: 'system', content: 'It is about one' },
          { role: 'user', content: 'say {word}' },
        ],
      })),
    )
  })

  it('200 shows the evaluation under the name that it has for its calls', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ user_input: 'say x' }])
    const named = await objects.evaluation(project, dataset, [], { evaluation_name: 'nightly' })
    const { id } = await evaluate(project, named, await objects.model(project))
    const shown = (await callsIn(server, project)).filter((call) => call['display_name'] !== null)
    expect(shown).toEqual([expect.objectContaining({ id, display_name: 'nightly' })])
  })

  it('200 counts a row whose model or scorer fails as one without scores', async () => {
    const project = server.newProject()
    const rows = [{ user_input: '400' }, { user_input: 'say x', target: 'x' }, { user_input: 'say x' }]
    const scorers = [await objects.scorer(project, 'ExactMatchScorer')]
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), scorers)
    const { id, status } = await evaluate(project, evaluation, await objects.model(project))
    expect(status).toMatchObject({
      code: 'complete',
      output: { ExactMatchScorer: { match: { true_count: 1, true_fraction: 1 / 3 } } },
    })
    const children = await callsIn(server, project, { parent_ids: [id] })
    const failed = children.filter((call) => call['exception'] !== null)
    expect(failed).toEqual([expect.objectContaining({ exception: expect.stringMatching('no target') })])
  })

  it('200 scores every row once what runs code is installed', async () => {
    const project = server.newProject()
    const rows = [{ user_input: 'say x' }, { user_input: 'say y' }]
    const scorer = await objects.op(project, 'is_x', 'def is_x(output): return output == "x"')
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), [scorer])
    missing = 1
    const { id, status } = await evaluate(project, evaluation, await objects.model(project))
    expect(status).toMatchObject({
      code: 'complete',
      output: { is_x: { true_count: 1, true_fraction: 0.5 } },
    })
    const calls = await callsIn(server, project)
    expect(calls.every((call) => call['trace_id'] === id && call['exception'] === null)).toBe(true)
    expect(await feedbackIn(server, project)).toHaveLength(2)
  })

  it('200 goes on after a score that is too large for feedback', async () => {
    const project = server.newProject()
    const rows = [
      { user_input: 'x', target: 'y' },
      { user_input: 'x', target: 'y'.repeat(1024 * 1024) },
    ]
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      name: 'judge',
      model: await objects.model(project, { response_format: 'json_object' }),
      scoring_prompt: 'say {{"right": true, "why": "{target}"}}',
    })
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), [judge])
    const { id, status } = await evaluate(project, evaluation, await objects.model(project))
    expect(status).toMatchObject({
      code: 'complete',
      output: { judge: { right: { true_count: 1, true_fraction: 0.5 } } },
    })
    const children = await callsIn(server, project, { parent_ids: [id] })
    const exceptions = children.map(({ exception }) => exception).filter((one) => one !== null)
    expect(exceptions).toEqual([expect.stringMatching(/payload is larger than \d+ bytes/)])
  })

  it('200 waits for a trace database that does not answer, which is no attempt', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ user_input: 'say x', target: 'x' }])
    const scorers = [await objects.scorer(project, 'ExactMatchScorer')]
    const evaluation = await objects.evaluation(project, dataset, scorers)
    const model = await objects.model(project)
    const { control, traces } = server.stores
    const insert = traces.insert.bind(traces)
    let outages = 0
    using _outage = vi.spyOn(traces, 'insert').mockImplementation(async (table, rows) => {
      // The calls of a row come together.
      if (table !== CALL_ROWS || rows.length === 1 || outages > 0) return insert(table, rows)
      outages++
      throw new StoreFailed('The trace database is away', undefined)
    })
    const { id, status } = await evaluate(project, evaluation, model)
    expect({ outages, code: status.code }).toEqual({ outages: 1, code: 'complete' })
    const job = control.selectFrom('jobs').select('attempts').where('id', '=', id)
    expect(await job.executeTakeFirst()).toEqual({ attempts: 1 })
  })

  it('200 shows the results to eval_results', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ user_input: 'say x', target: 'x' }])
    const scorers = [await objects.scorer(project, 'ContainsScorer')]
    const evaluation = await objects.evaluation(project, dataset, scorers)
    const { id } = await evaluate(project, evaluation, await objects.model(project))
    const results = await replyOf<{ rows: Fields[] }>(
      await server.post(`/v2/${project}/eval_results/query`, { evaluation_call_ids: [id] }),
    )
    expect(JSON.stringify(results.rows)).toContain('"scores":{"ContainsScorer":{"contains":true}}')
  })

  it('400 for evaluations that this server cannot run, 404 for unknown ones, and nothing is started', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ user_input: 'say x' }])
    const model = await objects.model(project)
    const evaluation = await objects.evaluation(project, dataset, [])
    const code = await objects.scorer(project, 'TheirScorer', { score: 'weave:///a/b/op/x:y' })
    const refused: [string, string, number][] = [
      [evaluation, evaluation, 400],
      [model, model, 400],
      ['weave:///a/b', model, 400],
      [`weave:///${project}/object/nothing:v0`, model, 404],
      [evaluation, `weave:///${project}/object/nothing:v0`, 404],
      [await objects.evaluation(server.newProject(), dataset, []), model, 400],
      [await objects.evaluation(project, await objects.dataset(project, []), []), model, 400],
      [await objects.evaluation(project, dataset, [code]), model, 400],
      [await objects.evaluation(project, dataset, ['nothing']), model, 400],
      [
        await objects.evaluation(project, dataset, [], { preprocess_model_input: 'weave:///a/b/op/x:y' }),
        model,
        400,
      ],
      [await objects.evaluation(project, dataset, [], { trials: 100_001 }), model, 400],
      [await objects.evaluation(project, dataset, [], { trials: 0 }), model, 400],
      [await objects.evaluation(project, dataset, [], { evaluation_name: 'x'.repeat(2000) }), model, 400],
    ]
    for (const [evaluation_ref, model_ref, status] of refused) {
      const response = await server.post('/evaluations/evaluate_model', {
        project_id: project,
        evaluation_ref,
        model_ref,
      })
      expect([response.status, evaluation_ref, await response.text()]).toEqual([
        status,
        evaluation_ref,
        expect.any(String),
      ])
    }
    expect(await callsIn(server, project)).toEqual([])
  })

  it('422 for missing fields and wrong types', async () => {
    for (const body of [{}, { project_id: 'a/b', evaluation_ref: 1, model_ref: 'x' }])
      expect((await server.post('/evaluations/evaluate_model', body)).status).toBe(422)
  })
})

describe('POST /evaluations/status', () => {
  it('200 with not_found for a call that does not exist', async () => {
    expect(await statusOf(server.newProject(), newId())).toEqual({ code: 'not_found' })
  })

  it('400 for a call that is no evaluation', async () => {
    const project_id = server.newProject()
    const call = {
      project_id,
      op_name: 'other',
      started_at: '2026-01-01T00:00:00Z',
      attributes: {},
      inputs: {},
    }
    const { id } = await replyOf(await server.post('/call/start', { start: call }))
    expect((await server.post('/evaluations/status', { project_id, call_id: id })).status).toBe(400)
  })
})

describe('POST /calls/delete', () => {
  it('200 ends an evaluation whose call is deleted, and leaves no calls of it behind', async () => {
    const project = server.newProject()
    const rows = Array.from({ length: 20 }, (_, n) => ({ user_input: n < 12 ? `say ${n}` : 'hang' }))
    const evaluation = await objects.evaluation(project, await objects.dataset(project, rows), [])
    const id = await start(project, evaluation, await objects.model(project))
    await vi.waitFor(
      async () => expect(await statusOf(project, id)).toMatchObject({ completed_rows: 12 }),
      WAIT_MAX,
    )
    const aborted = provider.aborted()
    await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [id] }))
    // As if a row had ended while the deletion looked for calls below the evaluation.
    const late = {
      project_id: project,
      op_name: 'late',
      started_at: '2026-01-01T00:00:00Z',
      trace_id: id,
      parent_id: id,
    }
    await replyOf(await server.post('/call/start', { start: { ...late, attributes: {}, inputs: {} } }))
    await vi.waitFor(() => expect(provider.aborted()).toBe(aborted + 8), WAIT_MAX)
    await vi.waitFor(async () => {
      const job = server.stores.control.selectFrom('jobs').select('state').where('id', '=', id)
      expect(await job.execute()).toEqual([{ state: 'completed' }])
    }, WAIT_MAX)
    expect(await callsIn(server, project)).toEqual([])
  })
})

describe('POST /evaluations/cancel', () => {
  it('200 ends an evaluation that hangs, with the results of its rows', async () => {
    const project = server.newProject()
    const dataset = await objects.dataset(project, [{ user_input: 'say x' }, { user_input: 'hang' }])
    const evaluation = await objects.evaluation(project, dataset, [])
    const call_id = await start(project, evaluation, await objects.model(project))
    await vi.waitFor(async () => {
      expect(await statusOf(project, call_id)).toEqual({ code: 'running', completed_rows: 1, total_rows: 2 })
    }, WAIT_MAX)
    // A call of another project may have the same id.
    const other = server.newProject()
    const op_name = `weave:///${other}/op/Evaluation.evaluate:v0`
    const same = { project_id: other, id: call_id, op_name, started_at: '2026-01-01T00:00:00Z' }
    await replyOf(await server.post('/call/start', { start: { ...same, attributes: {}, inputs: {} } }))
    const theirs = await server.post('/evaluations/cancel', { project_id: other, call_id })
    expect(theirs.status).toBe(409)
    const body = { project_id: project, call_id }
    expect((await server.post('/evaluations/cancel', body)).status).toBe(200)
    await vi.waitFor(async () => {
      expect(await statusOf(project, call_id)).toEqual({
        code: 'failed',
        error: 'The evaluation was cancelled',
      })
    }, WAIT_MAX)
    expect(await callsIn(server, project, { parent_ids: [call_id] })).toHaveLength(1)
    expect((await server.post('/evaluations/cancel', body)).status).toBe(200)
  })

  it('404 for a call that does not exist, 409 for an evaluation that a client runs', async () => {
    const project = server.newProject()
    const unknown = { project_id: project, call_id: newId() }
    expect((await server.post('/evaluations/cancel', unknown)).status).toBe(404)
    const run = { evaluation: 'weave:///a/b/object/e:v0', model: 'weave:///a/b/object/m:v0' }
    const { evaluation_run_id } = await replyOf(await server.post(`/v2/${project}/evaluation_runs`, run))
    const theirs = { project_id: project, call_id: evaluation_run_id }
    expect((await server.post('/evaluations/cancel', theirs)).status).toBe(409)
  })
})
