import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { replyOf } from '../../testing.ts'
import { finishedCall, writeCalls } from '../../trace/test-calls.ts'
import { EVALUATION, MODEL, useEvaluations } from './test-evaluations.ts'

const {
  callOf,
  calls,
  finish,
  itDeletes,
  itLists,
  itReads,
  itRefuses,
  list,
  newRun,
  predict,
  read,
  remove,
  score,
  server,
} = useEvaluations()

describe('POST /v2/{entity}/{project}/evaluation_runs', () => {
  itRefuses('evaluation_runs', [{}, { evaluation: EVALUATION }, { evaluation: 1, model: MODEL }])

  it('200 with a call that clients recognise as an evaluation', async () => {
    const project = server.newProject()
    const id = await newRun(project)
    const call = await callOf(project, id)
    expect(call).toMatchObject({
      trace_id: id,
      parent_id: null,
      attributes: { weave: { evaluation_run: 'true', evaluation: EVALUATION, model: MODEL } },
      inputs: { self: EVALUATION, model: MODEL },
      ended_at: null,
      wb_user_id: 'local',
    })
    const [, name = '', digest] = /\/op\/([^:]+):(.+)$/.exec(String(call['op_name'])) ?? []
    expect(name).toBe('Evaluation.evaluate')
    const op = { project_id: project, object_id: name, digest }
    expect(await replyOf(await server.post('/obj/read', op))).toMatchObject({ obj: { kind: 'op' } })
  })

  it('400 for a malformed ref, and nothing is written', async () => {
    const project = server.newProject()
    const body = { evaluation: 'weave:///x', model: MODEL }
    expect((await server.post(`/v2/${project}/evaluation_runs`, body)).status).toBe(400)
    expect(await replyOf(await server.post('/objs/query', { project_id: project }))).toEqual({ objs: [] })
  })
})

describe('GET /v2/{entity}/{project}/evaluation_runs', () => {
  itLists('evaluation_runs', newRun)

  it('200 with those of evaluations, models and ids, all of which must fit', async () => {
    const project = server.newProject()
    const other = 'weave:///test/p/object/other:abc'
    const [a, b, c] = [
      await newRun(project),
      await newRun(project, { evaluation: other }),
      await newRun(project, { model: other }),
    ]
    const idsOf = async (query: string) =>
      (await list(project, 'evaluation_runs', `?${query}`)).map((run) => run['evaluation_run_id'])
    expect(await idsOf(`evaluations=${other}`)).toEqual([b])
    expect(await idsOf(`evaluations=${other}&evaluations=${EVALUATION}&models=${MODEL}`)).toEqual([a, b])
    expect(await idsOf(`evaluation_run_ids=${a}&evaluation_run_ids=${c}&models=${other}`)).toEqual([c])
    expect(await idsOf(`evaluation_run_ids=${newId()}`)).toEqual([])
  })
})

describe('GET /v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}', () => {
  itReads('evaluation_runs', newRun)

  it('200 with the evaluation, the model and the source run', async () => {
    const project = server.newProject()
    const source = newId()
    const id = await newRun(project, { source_evaluation_run_id: source })
    expect(await read(project, 'evaluation_runs', id)).toMatchObject({
      evaluation_run_id: id,
      evaluation: EVALUATION,
      model: MODEL,
      status: 'running',
      finished_at: null,
      source_evaluation_run_id: source,
    })
  })

  it('200 for one that a client ran itself', async () => {
    const project = server.newProject()
    const id = newId()
    const call = finishedCall({
      id,
      op_name: `weave:///${project}/op/Evaluation.evaluate:abc`,
      exception: 'it broke',
      inputs: { self: EVALUATION, model: MODEL },
    })
    await writeCalls(server, project, [call])
    const run = { evaluation_run_id: id, evaluation: EVALUATION, model: MODEL, status: 'failed' }
    expect(await read(project, 'evaluation_runs', id)).toMatchObject(run)
    expect(await list(project, 'evaluation_runs')).toMatchObject([run])
  })
})

describe('DELETE /v2/{entity}/{project}/evaluation_runs', () => {
  itDeletes('evaluation_runs', newRun)

  it('200 with everything below', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    await score(project, prediction, { evaluation_run_id: run })
    expect(await replyOf(await remove(project, 'evaluation_runs', `evaluation_run_ids=${run}`))).toEqual({
      num_deleted: 4,
    })
    expect(await calls(project)).toEqual([])
  })
})

describe('POST /v2/{entity}/{project}/evaluation_runs/{evaluation_run_id}/finish', () => {
  async function finishedRun(project: string) {
    const run = await newRun(project)
    for (const [output, value] of [
      [2, 1],
      [4, 0.5],
    ]) {
      const prediction = await predict(project, { evaluation_run_id: run, output })
      await score(project, prediction, { evaluation_run_id: run, value })
      await replyOf(await finish(project, 'predictions', prediction))
    }
    expect(
      await replyOf(await finish(project, 'evaluation_runs', run, { summary: { note: 'done' } })),
    ).toEqual({
      success: true,
    })
    return run
  }

  it('200 with the means of scores and outputs, in the run and in a call below it', async () => {
    const project = server.newProject()
    const run = await finishedRun(project)
    const output = { exact: { mean: 0.75 }, output: { mean: 3 } }
    expect(await read(project, 'evaluation_runs', run)).toMatchObject({
      status: 'completed',
      summary: { note: 'done', weave: { status: 'success' } },
    })
    expect(await callOf(project, run)).toMatchObject({ output })
    const summaries = { parent_ids: [run], op_names: [`weave:///${project}/op/Evaluation.summarize:*`] }
    expect(await calls(project, summaries)).toMatchObject([{ inputs: { self: EVALUATION }, output }])
  })

  it('200 again, for one more prediction, with one summary and the same end', async () => {
    const project = server.newProject()
    const run = await finishedRun(project)
    const { finished_at } = await read(project, 'evaluation_runs', run)
    const late = await predict(project, { evaluation_run_id: run, output: 9 })
    await replyOf(await finish(project, 'predictions', late))
    await replyOf(await finish(project, 'evaluation_runs', run))
    expect(await read(project, 'evaluation_runs', run)).toMatchObject({ finished_at })
    expect(await callOf(project, run)).toMatchObject({ output: { output: { mean: 5 } } })
    expect(await calls(project, { parent_ids: [run] })).toHaveLength(4)
  })

  it('200 with one summary for several requests at once', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const replies = await Promise.all([1, 2, 3].map(() => finish(project, 'evaluation_runs', run)))
    for (const reply of replies) await replyOf(reply)
    expect(await calls(project, { parent_ids: [run] })).toHaveLength(1)
  })

  it('200 with the scores of a scorer that is named output, not the outputs', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run, output: 9 })
    const scorer = 'weave:///test/p/object/output:abc'
    await score(project, prediction, { evaluation_run_id: run, scorer, value: 0.25 })
    await replyOf(await finish(project, 'predictions', prediction))
    await replyOf(await finish(project, 'evaluation_runs', run))
    expect(await callOf(project, run)).toMatchObject({ output: { output: { mean: 0.25 } } })
  })

  it('200 and null for a mean that is no number in JSON', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    for (let count = 0; count < 2; count++) {
      const prediction = await predict(project, { evaluation_run_id: run, output: 1e308 })
      await replyOf(await finish(project, 'predictions', prediction))
    }
    await replyOf(await finish(project, 'evaluation_runs', run))
    expect(await callOf(project, run)).toMatchObject({ output: { output: { mean: null } } })
    expect(await list(project, 'evaluation_runs')).toMatchObject([{ evaluation_run_id: run }])
  })

  it('200 for one without predictions; 404 for a call that is not a run; 422 for an invalid summary', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    expect((await finish(project, 'evaluation_runs', run, { summary: [] })).status).toBe(422)
    await replyOf(await finish(project, 'evaluation_runs', run))
    expect(await callOf(project, run)).toMatchObject({ output: {} })
    for (const id of [newId(), await predict(project)])
      expect((await finish(project, 'evaluation_runs', id)).status).toBe(404)
    expect((await finish(server.newProject(), 'evaluation_runs', run)).status).toBe(404)
  })
})
