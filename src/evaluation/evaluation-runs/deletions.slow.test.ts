import { describe, expect, it, vi } from 'vitest'
import { StoreFailed } from '../../errors.ts'
import { type Fields, replyOf } from '../../testing.ts'
import { useEvaluations } from './test-evaluations.ts'

const { calls, feedbackIn, finish, list, newRun, predict, remove, score, server } = useEvaluations()

interface Results {
  rows: { evaluations: { trials: Fields[] }[] }[]
  summary: { evaluations: Fields[] }
}

async function resultsOf(project: string, run: string) {
  const body = { evaluation_call_ids: [run], include_rows: true, include_summary: true }
  const { rows, summary } = await replyOf<Results>(
    await server.post(`/v2/${project}/eval_results/query`, body),
  )
  const trials = rows.flatMap(({ evaluations }) => evaluations.flatMap((one) => one.trials))
  return { trials, evaluations: summary.evaluations }
}

/** What the status of a run shows after it was finished again. */
async function outputOf(project: string, run: string): Promise<unknown> {
  await replyOf(await finish(project, 'evaluation_runs', run))
  const status = await server.post('/evaluations/status', { project_id: project, call_id: run })
  return (await replyOf<{ status: Fields }>(status)).status['output']
}

/** A finished run of two predictions, with outputs 2 and 4 and scores 1 and 0.5. */
async function finishedRun(project: string) {
  const run = await newRun(project)
  const made = []
  for (const [output, value] of [
    [2, 1],
    [4, 0.5],
  ]) {
    const prediction = await predict(project, { evaluation_run_id: run, output, inputs: { n: output } })
    const scoreId = await score(project, prediction, { evaluation_run_id: run, value })
    await replyOf(await finish(project, 'predictions', prediction))
    made.push({ prediction, score: scoreId })
  }
  await replyOf(await finish(project, 'evaluation_runs', run))
  const [first, second] = made
  if (first === undefined || second === undefined) throw new Error('There are two')
  return { run, first, second }
}

describe('DELETE /v2/{entity}/{project}/scores', () => {
  it('200, and results no longer count them', async () => {
    const project = server.newProject()
    const { run, second } = await finishedRun(project)
    expect(await replyOf(await remove(project, 'scores', `score_ids=${second.score}`))).toEqual({
      num_deleted: 1,
    })
    const { trials, evaluations } = await resultsOf(project, run)
    expect(trials.map(({ scores }) => scores)).toEqual(expect.arrayContaining([{ exact: 1 }, {}]))
    expect(evaluations).toMatchObject([{ trial_count: 2, scorer_stats: [{ numeric_mean: 1 }] }])
    expect(await outputOf(project, run)).toEqual({ exact: { mean: 1 }, output: { mean: 3 } })
  })

  it('200, and the score before it by the same scorer counts again', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    const first = await score(project, prediction, { evaluation_run_id: run, value: 0 })
    const second = await score(project, prediction, { evaluation_run_id: run, value: 0.75 })
    await replyOf(await finish(project, 'predictions', prediction))
    const trialIn = async () => (await resultsOf(project, run)).trials
    expect(await trialIn()).toMatchObject([{ scores: { exact: 0.75 }, scorer_call_ids: { exact: second } }])
    await replyOf(await remove(project, 'scores', `score_ids=${second}`))
    expect(await trialIn()).toMatchObject([{ scores: { exact: 0 }, scorer_call_ids: { exact: first } }])
  })

  it.each(['insert', 'command'] as const)('503 while the database fails to %s, then 200', async (method) => {
    const project = server.newProject()
    const { run, first, second } = await finishedRun(project)
    const removeSecond = () => remove(project, 'scores', `score_ids=${second.score}`)
    const { traces } = server.stores
    const failing = vi.spyOn(traces, method).mockRejectedValueOnce(new StoreFailed('it fails', undefined))
    expect((await removeSecond()).status).toBe(503)
    failing.mockRestore()
    expect(await replyOf(await removeSecond())).toEqual({ num_deleted: 1 })
    expect(await feedbackIn(project)).toMatchObject([{ id: first.score }])
    const { trials } = await resultsOf(project, run)
    expect(trials.map(({ scores }) => scores)).toEqual(expect.arrayContaining([{ exact: 1 }, {}]))
  })

  it('200, and a prediction that is not finished stays so', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    const id = await score(project, prediction, { evaluation_run_id: run })
    await replyOf(await remove(project, 'scores', `score_ids=${id}`))
    const trials = await calls(project, { parent_ids: [run] })
    expect(trials).toMatchObject([{ ended_at: null, output: null }])
  })
})

describe('DELETE /v2/{entity}/{project}/predictions', () => {
  it('200 with their scores, and results no longer count them', async () => {
    const project = server.newProject()
    const { run, first, second } = await finishedRun(project)
    const deleted = await remove(project, 'predictions', `prediction_ids=${second.prediction}`)
    expect(await replyOf(deleted)).toEqual({ num_deleted: 1 })
    expect(await list(project, 'scores')).toMatchObject([{ score_id: first.score }])
    expect(await feedbackIn(project)).toHaveLength(1)
    const { trials, evaluations } = await resultsOf(project, run)
    expect(trials).toMatchObject([{ predict_call_id: first.prediction }])
    expect(evaluations).toMatchObject([{ trial_count: 1, scorer_stats: [{ numeric_mean: 1 }] }])
    expect(await outputOf(project, run)).toEqual({ exact: { mean: 1 }, output: { mean: 2 } })
  })

  it('200 with the scores of one without a run, and with no others', async () => {
    const project = server.newProject()
    const [gone, kept] = [await predict(project), await predict(project)]
    await score(project, gone)
    const keptScore = await score(project, kept)
    await replyOf(await remove(project, 'predictions', `prediction_ids=${gone}`))
    expect(await list(project, 'scores')).toMatchObject([{ score_id: keptScore }])
    expect(await list(project, 'predictions')).toMatchObject([{ prediction_id: kept }])
  })
})
