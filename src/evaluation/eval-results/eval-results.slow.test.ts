import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { jsonDigest } from '../../trace/digest.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'

const server = useTestServer()

interface Trial extends Fields {
  predict_and_score_call_id: string
}

interface Results {
  rows: {
    row_digest: string
    raw_data_row: unknown
    evaluations: { evaluation_call_id: string; trials: Trial[] }[]
  }[]
  total_rows: number
  summary: { row_count: number; evaluations: Fields[] } | null
  warnings: string[]
}

const MODEL = 'weave:///test/p/object/small:abc'
const post = (project: string, fields: Fields) => server.post(`/v2/${project}/eval_results/query`, fields)
const query = async (project: string, fields: Fields) => replyOf<Results>(await post(project, fields))

/** A call that took two seconds, with an id that rises with time. */
function callOf(project: string, opName: string, fields: Fields = {}) {
  const id = newId()
  const op_name = `weave:///${project}/op/${opName}:abc`
  return finishedCall({ id, trace_id: id, op_name, ended_at: '2026-01-01T00:00:02Z', ...fields })
}

interface Example {
  example: unknown
  output?: unknown
  scores?: Fields
}

/** An evaluation as clients run it: each example predicted and scored once. */
async function evaluate(
  project: string,
  examples: readonly Example[],
  opName = 'Evaluation.predict_and_score',
): Promise<string> {
  const inputs = { self: 'weave:///test/p/object/e:abc', model: MODEL }
  const run = callOf(project, 'Evaluation.evaluate', { inputs, display_name: 'nightly' })
  const batch = examples.flatMap(({ example, output = 1, scores = {} }) => {
    const trial = callOf(project, opName, {
      parent_id: run.id,
      inputs: { ...inputs, example },
      output: { output, scores, model_latency: 7 },
    })
    const usage = { small: { requests: 1, prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }
    const predict = callOf(project, 'Small.run', {
      parent_id: trial.id,
      inputs: { self: MODEL },
      summary: { usage },
    })
    const scorers = Object.keys(scores).map((name) => callOf(project, name, { parent_id: trial.id }))
    return [trial, ...scorers, predict]
  })
  await writeCalls(server, project, [run, ...batch])
  return run.id
}

const digestOf = (example: unknown) => jsonDigest(JSON.stringify(example))

/** The outputs of a row's trials. */
const outputsOf = ({ rows }: Results) =>
  rows.map(({ evaluations }) => evaluations.flatMap(({ trials }) => trials.map((one) => one['model_output'])))

describe('POST /v2/{entity}/{project}/eval_results/query', () => {
  it('200 with a row for each example, and the results of each evaluation', async () => {
    const project = server.newProject()
    const examples = [
      { example: { n: 1 }, output: 'one', scores: { exact: true } },
      { example: { n: 2 }, output: 'two', scores: { exact: false } },
    ]
    const [a, b] = [
      await evaluate(project, examples),
      await evaluate(project, examples.slice(1), 'Evaluation.predictAndScore'),
    ]
    const found = await query(project, { evaluation_call_ids: [a, b, a], evaluation_run_ids: [b] })
    expect(found).toMatchObject({ total_rows: 2, summary: null, warnings: [] })
    const digests = [digestOf({ n: 1 }), digestOf({ n: 2 })]
    expect(found.rows.map((row) => row.row_digest)).toEqual(digests.toSorted())
    const second = found.rows.find((row) => row.row_digest === digests[1])
    expect(second?.raw_data_row).toBeNull()
    expect(second?.evaluations.map((one) => one.evaluation_call_id)).toEqual([a, b])
    expect(second?.evaluations[0]?.trials).toEqual([
      {
        predict_and_score_call_id: expect.any(String),
        predict_call_id: expect.any(String),
        model_output: 'two',
        scores: { exact: false },
        model_latency_seconds: 2,
        total_tokens: 7,
        total_cost: null,
        scorer_call_ids: { exact: expect.any(String) },
        genai_span_ref: null,
      },
    ])
  })

  it('200 with payloads as they were written', async () => {
    const project = server.newProject()
    const run = callOf(project, 'Evaluation.evaluate')
    const trial = callOf(project, 'Evaluation.predict_and_score', { parent_id: run.id })
    const body = JSON.stringify({ batch: [run, trial] })
      .replace(/"inputs":\{\}(?!.*"inputs")/, '"inputs":{"example":{"x":1.0}}')
      .replace(/"output":null(?!.*"output")/, '"output":{"output":12345678901234567890,"scores":{"s":1.0}}')
    await replyOf(await server.request(`/v2/${project}/calls/complete`, { method: 'POST', body }))
    const asked = { evaluation_call_ids: [run.id], include_raw_data_rows: true }
    const text = await (await post(project, asked)).text()
    expect(text).toContain(`"row_digest":"${jsonDigest('{"x":1.0}')}","raw_data_row":{"x":1.0}`)
    expect(text).toContain('"model_output":12345678901234567890,"scores":{"s":1.0}')
  })

  it('200 with evaluations that are logged step by step', async () => {
    const project = server.newProject()
    const evaluation = 'weave:///test/p/object/e:abc'
    const made = await replyOf(
      await server.post(`/v2/${project}/evaluation_runs`, { evaluation, model: MODEL }),
    )
    const run = String(made['evaluation_run_id'])
    const spans = [{ trace_id: 'a', span_id: 'b' }]
    const { prediction_id } = await replyOf(
      await server.post(`/v2/${project}/predictions`, {
        model: MODEL,
        inputs: { n: 1 },
        output: 2,
        evaluation_run_id: run,
        genai_span_ref: spans,
      }),
    )
    const scorer = 'weave:///test/p/object/exact:abc'
    const { score_id } = await replyOf(
      await server.post(`/v2/${project}/scores`, {
        prediction_id,
        scorer,
        value: 0.5,
        evaluation_run_id: run,
      }),
    )
    await replyOf(await server.post(`/v2/${project}/predictions/${prediction_id}/finish`, {}))
    const { rows } = await query(project, { evaluation_run_ids: [run] })
    expect(rows).toMatchObject([
      {
        row_digest: digestOf({ n: 1 }),
        evaluations: [
          {
            trials: [
              {
                predict_call_id: prediction_id,
                model_output: 2,
                scores: { exact: 0.5 },
                scorer_call_ids: { exact: score_id },
                genai_span_ref: spans,
              },
            ],
          },
        ],
      },
    ])
  })

  it('200 with rows of a dataset by their digest, as refs or resolved; a warning where one leads nowhere', async () => {
    const project = server.newProject()
    const made = await replyOf(await server.post(`/v2/${project}/datasets`, { name: 'd', rows: [{ n: 5 }] }))
    const rows = `weave:///${project}/object/d:${String(made['digest'])}/attr/rows/id`
    const ref = `${rows}/${digestOf({ n: 5 })}`
    const run = await evaluate(project, [{ example: ref }])
    const asked = { evaluation_call_ids: [run], include_raw_data_rows: true }
    expect(await query(project, asked)).toMatchObject({
      rows: [{ row_digest: digestOf({ n: 5 }), raw_data_row: ref }],
    })
    expect(await query(project, { ...asked, resolve_row_refs: true })).toMatchObject({
      rows: [{ raw_data_row: { n: 5 } }],
      warnings: [],
    })
    const broken = await evaluate(project, [{ example: `${rows}/nothing` }])
    const found = await query(project, { ...asked, evaluation_call_ids: [broken], resolve_row_refs: true })
    expect(found.rows).toMatchObject([{ row_digest: 'nothing', raw_data_row: `${rows}/nothing` }])
    expect(found.warnings).toHaveLength(1)
  })

  it('200 with a page of the rows that all evaluations have', async () => {
    const project = server.newProject()
    const examples = Array.from({ length: 7 }, (_, n) => ({ example: { n }, output: n }))
    const ids = [await evaluate(project, examples), await evaluate(project, examples.slice(2))]
    const asked = { evaluation_call_ids: ids, require_intersection: true }
    const whole = await query(project, asked)
    expect(whole).toMatchObject({ total_rows: 5 })
    const page = await query(project, { ...asked, limit: 2, offset: 1 })
    expect(page).toEqual({ ...whole, rows: whole.rows.slice(1, 3) })
    expect(await query(project, { ...asked, offset: 9 })).toMatchObject({ rows: [], total_rows: 5 })
    expect(await query(project, { ...asked, limit: 0 })).toMatchObject({ rows: [], total_rows: 5 })
  })

  it('200 with a page of rows of a dataset, each trial once, without deleted ones', async () => {
    const project = server.newProject()
    const exampleOf = (n: number) => `weave:///${project}/object/d:abc/attr/rows/id/${n}`
    const [first, second] = [
      await evaluate(
        project,
        [1, 2, 3, 4].map((n) => ({ example: exampleOf(n), output: n })),
      ),
      await evaluate(project, [{ example: exampleOf(3), output: 33 }]),
    ]
    const asked = { evaluation_call_ids: [first, second] }
    const whole = await query(project, asked)
    expect(outputsOf(whole)).toEqual([[1], [2], [3, 33], [4]])
    expect(await query(project, { ...asked, limit: 2, offset: 2 })).toEqual({
      ...whole,
      rows: whole.rows.slice(2),
    })

    const trialOf = (row: number) => whole.rows[row]?.evaluations[0]?.trials[0]?.predict_and_score_call_id
    const { output, summary, ended_at, ...start } = finishedCall({
      id: String(trialOf(2)),
      parent_id: first,
      op_name: `weave:///${project}/op/Evaluation.predict_and_score:abc`,
      inputs: { example: exampleOf(3) },
    })
    await replyOf(await server.post('/call/start', { start: { ...start, project_id: project } }))
    await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [trialOf(0)] }))
    const left = await query(project, { ...asked, limit: 10 })
    expect([outputsOf(left), left.total_rows]).toEqual([[[2], [3, 33], [4]], 3])
  })

  it('200 with several trials of one example, in their order', async () => {
    const project = server.newProject()
    const run = await evaluate(
      project,
      [1, 2, 3].map((output) => ({ example: 'same', output })),
    )
    expect(outputsOf(await query(project, { evaluation_call_ids: [run] }))).toEqual([[1, 2, 3]])
  })

  it('200 without the children of trials', async () => {
    const project = server.newProject()
    const run = await evaluate(project, [{ example: 1, scores: { exact: 1 } }])
    const asked = { evaluation_call_ids: [run], include_predict_and_score_children: false }
    expect((await query(project, asked)).rows[0]?.evaluations[0]?.trials).toMatchObject([
      { predict_call_id: null, model_latency_seconds: 7, total_tokens: null, scorer_call_ids: {} },
    ])
  })

  it('200 with a summary of every leaf of the scores', async () => {
    const project = server.newProject()
    const run = await evaluate(project, [
      { example: 1, scores: { exact: true, far: { by: 1, list: [1] }, word: 'a' } },
      { example: 2, scores: { exact: false, far: { by: 3 }, word: null } },
    ])
    const asked = { evaluation_call_ids: [run], include_rows: false, include_summary: true }
    const { summary, ...rest } = await query(project, asked)
    expect(rest).toEqual({ rows: [], total_rows: 0, warnings: [] })
    expect(summary?.row_count).toBe(2)
    expect(summary?.evaluations).toMatchObject([
      {
        evaluation_call_id: run,
        trial_count: 2,
        evaluation_ref: 'weave:///test/p/object/e:abc',
        model_ref: MODEL,
        display_name: 'nightly',
        trace_id: run,
        predict_total_tokens: 14,
        predict_total_cost: null,
      },
    ])
    const stats = summary?.evaluations[0]?.['scorer_stats']
    expect(stats).toHaveLength(3)
    expect(stats).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ scorer_key: 'exact', path: null, value_type: 'binary', pass_rate: 0.5 }),
        expect.objectContaining({ scorer_key: 'far', path: 'by', numeric_mean: 2, numeric_count: 2 }),
        expect.objectContaining({ scorer_key: 'word', value_type: 'text', trial_count: 1, pass_rate: null }),
      ]),
    )
  })

  it('200 with a summary of the rows that all evaluations have', async () => {
    const project = server.newProject()
    const ids = [
      await evaluate(project, [{ example: 1 }, { example: 2 }]),
      await evaluate(project, [{ example: 2 }]),
    ]
    const asked = { evaluation_call_ids: ids, include_summary: true, summary_require_intersection: true }
    const { summary, total_rows } = await query(project, asked)
    expect([summary?.row_count, total_rows]).toEqual([1, 2])
  })

  it('200 with the costs of predictions', async () => {
    const project = server.newProject()
    const costs = { small: { prompt_token_cost: 1, completion_token_cost: 10 } }
    await replyOf(await server.post('/cost/create', { project_id: project, costs }))
    const run = await evaluate(project, [{ example: 1 }])
    const asked = { evaluation_call_ids: [run], include_costs: true, include_summary: true }
    const { rows, summary } = await query(project, asked)
    expect(rows[0]?.evaluations[0]?.trials).toMatchObject([{ total_cost: 43 }])
    expect(summary?.evaluations).toMatchObject([{ predict_total_cost: 43 }])
  })

  it('200 with rows that match filters, in all evaluations or one', async () => {
    const project = server.newProject()
    const examples = [1, 2, 3].map((n) => ({ example: { n }, output: n, scores: { s: n } }))
    const [a, b] = [
      await evaluate(project, examples),
      await evaluate(project, [{ example: { n: 1 }, output: 9 }]),
    ]
    const filter = (field: string, value: number, evaluation_call_id?: string) => ({
      query: { $expr: { $gte: [{ $getField: field }, { $literal: value }] } },
      evaluation_call_id,
    })
    const countOf = async (fields: Fields) =>
      (await query(project, { evaluation_call_ids: [a, b], include_summary: true, ...fields })).total_rows
    expect(await countOf({ filters: [filter('scores.s', 2)] })).toBe(2)
    expect(await countOf({ filters: [filter('outputs', 9)] })).toBe(1)
    expect(await countOf({ filters: [filter('outputs', 9, a)] })).toBe(0)
    expect(await countOf({ filters: [filter('inputs.n', 3), filter('outputs', 9)] })).toBe(2)
    const both = [filter('inputs.n', 2), filter('scores.s', 3)]
    expect(await countOf({ filters: both, filter_logic_operator: 'and' })).toBe(1)
    const unknown = { evaluation_call_ids: [a], filters: [filter('op_name', 1)] }
    expect((await post(project, unknown)).status).toBe(400)
  })

  it('200 in the order of scores, outputs and inputs, of one evaluation or by their difference', async () => {
    const project = server.newProject()
    const made = await replyOf(
      await server.post(`/v2/${project}/datasets`, { name: 'd', rows: [1, 2, 3].map((n) => ({ n })) }),
    )
    const exampleOf = (n: number) =>
      `weave:///${project}/object/d:${String(made['digest'])}/attr/rows/id/${digestOf({ n })}`
    const evaluation = (scores: readonly number[]) =>
      evaluate(
        project,
        scores.map((s, index) => ({ example: exampleOf(index + 1), output: index + 1, scores: { s } })),
      )
    const [a, b] = [await evaluation([0.5, 0.9, 0.1]), await evaluation([0.6, 0.1])]
    const orderOf = async (...sort_by: Fields[]) =>
      outputsOf(await query(project, { evaluation_call_ids: [a, b], sort_by })).map(([output]) => output)
    expect(await orderOf({ field: 'inputs.n', direction: 'desc' })).toEqual([3, 2, 1])
    expect(await orderOf({ field: 'outputs', direction: 'asc' })).toEqual([1, 2, 3])
    expect(await orderOf({ field: 'scores.s', direction: 'desc', evaluation_call_id: a })).toEqual([2, 1, 3])
    expect(await orderOf({ field: 'scores.s', direction: 'asc', evaluation_call_id: b })).toEqual([2, 1, 3])
    expect(await orderOf({ field: 'scores.s', direction: 'desc', mode: 'difference' })).toEqual([2, 1, 3])
    expect(
      await orderOf({ field: 'scores.none', direction: 'asc' }, { field: 'inputs.n', direction: 'asc' }),
    ).toEqual([1, 2, 3])
  })

  it('200 with an empty reply for calls that do not exist, or of another project', async () => {
    const project = server.newProject()
    const run = await evaluate(project, [{ example: 1 }])
    const nothing = { rows: [], total_rows: 0, summary: null, warnings: [] }
    expect(await query(server.newProject(), { evaluation_call_ids: [run] })).toEqual(nothing)
    expect(await query(project, { evaluation_call_ids: [newId(), 'nobody'] })).toEqual(nothing)
    const summed = { evaluation_run_ids: [newId()], include_summary: true }
    expect(await query(project, summed)).toMatchObject({ summary: { row_count: 0, evaluations: [] } })
  })

  it('422 without evaluations or for wrong types; 400 for invalid pages and numbers', async () => {
    const statusOf = async (fields: Fields) => (await post(server.newProject(), fields)).status
    expect(await statusOf({})).toBe(422)
    expect(await statusOf({ evaluation_call_ids: [], evaluation_run_ids: null })).toBe(422)
    expect(await statusOf({ evaluation_call_ids: 'x' })).toBe(422)
    expect(await statusOf({ evaluation_call_ids: ['x'], sort_by: [{ field: 'scores.s' }] })).toBe(422)
    expect(await statusOf({ evaluation_call_ids: ['x'], limit: -1 })).toBe(400)
    expect(await statusOf({ evaluation_call_ids: Array.from({ length: 1001 }, newId) })).toBe(400)
    const sort_by = [{ field: 'op_name', direction: 'asc' }]
    expect(await statusOf({ evaluation_call_ids: ['x'], sort_by })).toBe(400)
  })
})
