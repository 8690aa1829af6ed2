import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { type Fields, replyOf } from '../../testing.ts'
import { EVALUATION, MODEL, SCORER, useEvaluations } from './test-evaluations.ts'

const {
  callOf,
  feedbackIn,
  finish,
  itDeletes,
  itLists,
  itReads,
  itRefuses,
  list,
  newRun,
  newScore,
  predict,
  read,
  remove,
  request,
  score,
  server,
} = useEvaluations()

describe('POST /v2/{entity}/{project}/predictions', () => {
  itRefuses('predictions', [
    {},
    { model: MODEL, inputs: {} },
    { model: MODEL, inputs: [], output: 1 },
    { model: 1, inputs: {}, output: 1 },
    { model: MODEL, inputs: {}, output: 1, genai_span_ref: [{ trace_id: 'x' }] },
  ])

  it('200 with a call that has ended, numbers as they were written', async () => {
    const project = server.newProject()
    const body = `{"model":"${MODEL}","inputs":{"n":1.0},"output":{"big":12345678901234567890}}`
    const made = await replyOf(await server.request(`/v2/${project}/predictions`, { method: 'POST', body }))
    const id = String(made['prediction_id'])
    const call = await callOf(project, id)
    expect(call).toMatchObject({
      trace_id: id,
      parent_id: null,
      attributes: { weave: { prediction: 'true', model: MODEL } },
      inputs: { self: MODEL },
      summary: { weave: { status: 'success' } },
    })
    expect(call['op_name']).toMatch(/\/op\/small\.predict:/)
    const text = await (await request(project, `predictions/${id}`)).text()
    expect(text).toContain('"inputs":{"n":1.0},"output":{"big":12345678901234567890}')
  })

  it('200 under a run, with a call between them; 404 for a run that does not exist', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    const { parent_id, trace_id } = await callOf(project, prediction)
    expect(trace_id).toBe(run)
    expect(await callOf(project, String(parent_id))).toMatchObject({
      parent_id: run,
      trace_id: run,
      attributes: { weave: { predict_call_id: prediction } },
      inputs: { self: EVALUATION, model: MODEL, example: { n: 1 } },
      ended_at: null,
    })
    for (const evaluation_run_id of [newId(), 'nobody', prediction]) {
      const body = { model: MODEL, inputs: {}, output: 1, evaluation_run_id }
      expect((await server.post(`/v2/${project}/predictions`, body)).status).toBe(404)
    }
    const elsewhere = { model: MODEL, inputs: {}, output: 1, evaluation_run_id: run }
    expect((await server.post(`/v2/${server.newProject()}/predictions`, elsewhere)).status).toBe(404)
  })

  it('200 for models whose names no op can have', async () => {
    const project = server.newProject()
    const nameOf = async (model: string) =>
      String((await callOf(project, await predict(project, { model })))['op_name'])
        .split('/')
        .at(-1)
    expect(await nameOf('just a name')).toMatch(/^Model\.predict:/)
    expect(await nameOf(`weave:///test/p/object/${'x'.repeat(200)}:abc`)).toMatch(/^x{120}\.predict:/)
    expect(await nameOf('weave:///test/p/object/a%20b:abc')).toMatch(/^ab\.predict:/)
  })
})

describe('GET /v2/{entity}/{project}/predictions', () => {
  itLists('predictions', predict)

  it('200 with those of a run', async () => {
    const project = server.newProject()
    const [run, other] = [await newRun(project), await newRun(project)]
    await predict(project)
    await predict(project, { evaluation_run_id: other })
    const prediction = await predict(project, { evaluation_run_id: run })
    expect(await list(project, 'predictions', `?evaluation_run_id=${run}`)).toMatchObject([
      { prediction_id: prediction, evaluation_run_id: run },
    ])
    expect(await list(project, 'predictions', `?evaluation_run_id=${newId()}`)).toEqual([])
  })
})

describe('GET /v2/{entity}/{project}/predictions/{prediction_id}', () => {
  itReads('predictions', predict)

  it('200 with all of it, null too', async () => {
    const project = server.newProject()
    const id = await predict(project, { output: null })
    expect(await read(project, 'predictions', id)).toEqual({
      prediction_id: id,
      model: MODEL,
      inputs: { n: 1 },
      output: null,
      evaluation_run_id: null,
      wb_user_id: 'local',
    })
  })
})

describe('DELETE /v2/{entity}/{project}/predictions', () => itDeletes('predictions', predict))

describe('POST /v2/{entity}/{project}/predictions/{prediction_id}/finish', () => {
  it('200 with output, scores and latency in the call above; the output stays', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    await score(project, prediction, { evaluation_run_id: run, value: 0.25 })
    await score(project, prediction, { evaluation_run_id: run, value: 1 })
    const before = await callOf(project, prediction)
    expect(await replyOf(await finish(project, 'predictions', prediction))).toEqual({ success: true })
    expect(await callOf(project, prediction)).toEqual(before)
    const parent = await callOf(project, String(before['parent_id']))
    const model_latency = { mean: expect.any(Number) }
    expect(parent['output']).toEqual({ output: 2, scores: { exact: 1 }, model_latency })
    await score(project, prediction, { evaluation_run_id: run, value: 0 })
    await replyOf(await finish(project, 'predictions', prediction))
    const again = await callOf(project, String(before['parent_id']))
    expect(again['output']).toMatchObject({ output: 2, scores: { exact: 0 } })
    expect(again['ended_at']).toBe(parent['ended_at'])
  })

  it('200 for one without a run; 404 for a call that is not a prediction', async () => {
    const project = server.newProject()
    const prediction = await predict(project)
    expect(await replyOf(await finish(project, 'predictions', prediction))).toEqual({ success: true })
    for (const id of [newId(), await newRun(project)])
      expect((await finish(project, 'predictions', id)).status).toBe(404)
    expect((await finish(server.newProject(), 'predictions', prediction)).status).toBe(404)
  })
})

describe('POST /v2/{entity}/{project}/scores', () => {
  itRefuses('scores', [
    {},
    { prediction_id: 'x', scorer: SCORER, value: 'high' },
    { scorer: SCORER, value: 1 },
  ])

  it('200 with a call beside the prediction, and feedback on it', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    const id = await score(project, prediction, { evaluation_run_id: run })
    const { parent_id } = await callOf(project, prediction)
    const call = await callOf(project, id)
    expect(call).toMatchObject({
      parent_id,
      trace_id: run,
      attributes: {
        weave: { score: 'true', prediction_id: prediction, scorer: SCORER, evaluation_run_id: run },
      },
      inputs: { self: SCORER, inputs: { n: 1 }, output: 2 },
      output: 0.5,
    })
    expect(call['op_name']).toMatch(/\/op\/exact\.score:/)
    expect(await feedbackIn(project)).toMatchObject([
      {
        weave_ref: `weave:///${project}/call/${prediction}`,
        feedback_type: 'wandb.runnable.exact',
        payload: { output: 0.5 },
        runnable_ref: SCORER,
        call_ref: `weave:///${project}/call/${id}`,
      },
    ])
  })

  it('200 for a call that is no prediction, alone in its trace', async () => {
    const project = server.newProject()
    const id = await score(project, await newRun(project))
    expect(await callOf(project, id)).toMatchObject({ parent_id: null, trace_id: id })
  })

  it('404 and 400 for a call or scorer that cannot be used, and nothing is written', async () => {
    const project = server.newProject()
    const [run, other] = [await newRun(project), await newRun(project)]
    const prediction = await predict(project, { evaluation_run_id: run })
    const statusOf = async (fields: Fields) => {
      const body = { prediction_id: prediction, scorer: SCORER, value: 1, ...fields }
      return (await server.post(`/v2/${project}/scores`, body)).status
    }
    expect(await statusOf({ prediction_id: newId() })).toBe(404)
    expect(await statusOf({ evaluation_run_id: newId() })).toBe(404)
    expect(await statusOf({ evaluation_run_id: other })).toBe(400)
    for (const scorer of ['exact', 'weave:///test/p/call/abc', 'weave:///x'])
      expect(await statusOf({ scorer }), scorer).toBe(400)
    expect(await list(project, 'scores')).toEqual([])
    expect(await feedbackIn(project)).toEqual([])
  })
})

describe('GET /v2/{entity}/{project}/scores', () => {
  itLists('scores', newScore)

  it('200 with those of a run', async () => {
    const project = server.newProject()
    const run = await newRun(project)
    const prediction = await predict(project, { evaluation_run_id: run })
    await score(project, prediction)
    const id = await score(project, prediction, { evaluation_run_id: run })
    expect(await list(project, 'scores', `?evaluation_run_id=${run}`)).toMatchObject([{ score_id: id }])
  })
})

describe('GET /v2/{entity}/{project}/scores/{score_id}', () => {
  itReads('scores', newScore)

  it('200 with all of it', async () => {
    const project = server.newProject()
    const id = await newScore(project)
    expect(await read(project, 'scores', id)).toEqual({
      score_id: id,
      scorer: SCORER,
      value: 0.5,
      evaluation_run_id: null,
      wb_user_id: 'local',
    })
  })
})

describe('DELETE /v2/{entity}/{project}/scores', () => {
  itDeletes('scores', newScore)

  it('200 with the feedback that they are', async () => {
    const project = server.newProject()
    const prediction = await predict(project)
    const [gone] = [await score(project, prediction), await score(project, prediction)]
    await replyOf(await remove(project, 'scores', `score_ids=${gone}`))
    expect(await feedbackIn(project)).toHaveLength(1)
  })
})
