import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'

const server = useTestServer()

interface Results {
  rows: { raw_data_row: unknown; evaluations: { trials: Fields[] }[] }[]
  summary: { evaluations: Fields[] } | null
}

async function query(project: string, fields: Fields): Promise<Results> {
  return replyOf(await server.post(`/v2/${project}/eval_results/query`, fields))
}

function callOf(project: string, op: string, fields: Fields = {}) {
  const op_name = `weave:///${project}/op/Evaluation.${op}:abc`
  return finishedCall({ id: newId(), op_name, ...fields })
}

function trialOf(project: string, run: string, n: number, fields: Fields) {
  return callOf(project, 'predict_and_score', { parent_id: run, inputs: { example: { n } }, ...fields })
}

describe('POST /v2/{entity}/{project}/eval_results/query of trials with errors', () => {
  it('200 with errors as failures on request', async () => {
    const project = server.newProject()
    const [a, b] = [callOf(project, 'evaluate'), callOf(project, 'evaluate')]
    const scored = (exact: boolean, length: number) => ({ output: { output: 1, scores: { exact, length } } })
    const right = [1, 2, 3, 4].map((n) => trialOf(project, a.id, n, scored(true, n)))
    const raised = trialOf(project, b.id, 3, { output: { output: null, scores: {} } })
    const predict = callOf(project, 'predict', { parent_id: raised.id, exception: 'KeyError: price' })
    const died = trialOf(project, b.id, 4, { output: null, exception: 'ValueError: no' })
    const ended = [trialOf(project, b.id, 1, scored(true, 1)), trialOf(project, b.id, 2, scored(false, 9))]
    await writeCalls(server, project, [a, b, ...right, ...ended, raised, predict, died])
    const ids = { evaluation_call_ids: [a.id, b.id], include_summary: true }
    const plain = await query(project, ids)
    expect(plain.rows[0]?.evaluations[0]?.trials[0]).not.toHaveProperty('error')
    expect(plain.summary?.evaluations[1]).not.toHaveProperty('error_count')

    const change = { mode: 'change', evaluation_call_id: a.id }
    const found = await query(project, {
      ...ids,
      include_errors: true,
      include_raw_data_rows: true,
      sort_by: [
        { field: 'errors', direction: 'desc', ...change },
        { field: 'scores.exact', direction: 'asc', ...change },
      ],
    })
    expect(found.summary?.evaluations).toMatchObject([
      { error_count: 0, row_count: 4 },
      { error_count: 2, row_count: 4, trial_count: 4 },
    ])
    const stats = found.summary?.evaluations[1]?.['scorer_stats']
    expect(stats).toMatchObject([
      { scorer_key: 'exact', pass_rate: 0.5, pass_known_count: 2, error_count: 2, score: 0.25 },
      { scorer_key: 'length', numeric_mean: 5, error_count: 2, score: 5 },
    ])
    const errorsOf = found.rows.map(({ evaluations }) => evaluations[1]?.trials[0]?.['error'])
    expect(errorsOf.slice(0, 2).toSorted()).toEqual(['KeyError: price', 'ValueError: no'])
    expect(found.rows.map(({ raw_data_row }) => raw_data_row).slice(2)).toEqual([{ n: 2 }, { n: 1 }])
    const worst = await query(project, {
      evaluation_call_ids: [b.id],
      include_errors: true,
      include_raw_data_rows: true,
      sort_by: [{ field: 'scores.exact', direction: 'desc' }],
    })
    expect(worst.rows[0]?.raw_data_row).toEqual({ n: 1 })
    expect(worst.rows).toHaveLength(4)
  })

  it('200 with the field of each number, by which rows are sorted also where its name has a dot', async () => {
    const project = server.newProject()
    const run = callOf(project, 'evaluate')
    const recalls = [0.25, 0.75, 0.5]
    const trials = recalls.map((recall, index) =>
      trialOf(project, run.id, index, {
        output: { output: null, scores: { 'judge-4.1': { 'recall@0.5': recall } } },
      }),
    )
    await writeCalls(server, project, [run, ...trials])
    const asked = { evaluation_call_ids: [run.id], include_errors: true }
    const { summary } = await query(project, { ...asked, include_summary: true })
    const stats = summary?.evaluations[0]?.['scorer_stats']
    const field = 'scores.judge-4\\.1.recall@0\\.5'
    expect(stats).toMatchObject([{ scorer_key: 'judge-4.1', path: 'recall@0.5', field }])
    const sort_by = [{ field, direction: 'desc' }]
    const { rows } = await query(project, { ...asked, include_raw_data_rows: true, sort_by })
    expect(rows.map(({ raw_data_row }) => raw_data_row)).toEqual([{ n: 1 }, { n: 2 }, { n: 0 }])
  })

  it('200 with what evaluations have over the rows that both have a value of, errors counted', async () => {
    const project = server.newProject()
    const [a, b] = [callOf(project, 'evaluate'), callOf(project, 'evaluate')]
    const scored = (exact: boolean, length: number) => ({ output: { output: 1, scores: { exact, length } } })
    const first = [1, 2, 3, 4].map((n) => trialOf(project, a.id, n, scored(true, 10 * n)))
    // A row that the other lacks, one of two trials, and one that raised.
    const second = [
      trialOf(project, b.id, 1, scored(true, 9)),
      trialOf(project, b.id, 2, scored(false, 20)),
      trialOf(project, b.id, 2, scored(true, 24)),
      trialOf(project, b.id, 3, { output: null, exception: 'ValueError: no' }),
      trialOf(project, b.id, 5, scored(false, 1000)),
    ]
    await writeCalls(server, project, [a, b, ...first, ...second])
    const asked = { evaluation_call_ids: [a.id, b.id], include_errors: true, include_paired: true }
    const { summary } = await query(project, { ...asked, include_summary: true })
    expect(summary?.evaluations[0]).not.toHaveProperty('paired')
    expect(summary?.evaluations[1]?.['paired']).toEqual([
      { field: 'scores.exact', row_count: 3, score: 0.5, baseline_score: 1 },
      { field: 'scores.length', row_count: 2, score: 15.5, baseline_score: 15 },
    ])
  })

  it('200 with one mean where a scorer gives truths and numbers, of which true is 1', async () => {
    const project = server.newProject()
    const run = callOf(project, 'evaluate')
    const trials = [true, 0.5, false, 4.5].map((good, n) =>
      trialOf(project, run.id, n, { output: { output: 1, scores: { good } } }),
    )
    const died = trialOf(project, run.id, 4, { output: null, exception: 'ValueError: no' })
    await writeCalls(server, project, [run, ...trials, died])
    const asked = { evaluation_call_ids: [run.id], include_errors: true, include_raw_data_rows: true }
    const sort_by = [{ field: 'scores.good', direction: 'asc' }]
    const { rows, summary } = await query(project, { ...asked, include_summary: true, sort_by })
    expect(summary?.evaluations[0]?.['scorer_stats']).toMatchObject([
      { numeric_count: 2, pass_known_count: 2, score: 1.5, error_count: 1 },
    ])
    expect(rows.at(-1)?.raw_data_row).toEqual({ n: 4 })
  })
})
