import { describe, expect, it, vi } from 'vitest'
import { newId } from '../ids.ts'
import { type Fields, replyOf, useTestServer } from '../testing.ts'
import { useQueues } from '../trace/annotation-queues/test-queues.ts'
import { finishedCall } from '../trace/test-calls.ts'
import { chatCall, refOf, useCollecting } from './test-collecting.ts'

const server = useTestServer()
const { post, collect, say, write, rowsOf, objectsIn } = useCollecting(server)
const { newQueue, add, items, progress } = useQueues(server)

const INTO = { dataset: { name: 'good' } }

describe('POST /v2/{entity}/{project}/collect from calls', () => {
  it('200 with the calls that filter, query, order and limit select, and a ref to each', async () => {
    const project = server.newProject()
    const calls = ['a', 'b', 'c'].map((text) => chatCall(text, text.toUpperCase()))
    await write(project, [...calls, finishedCall({ op_name: 'other' })])
    const from = {
      calls: {
        filter: { op_names: ['chat.completions.create'] },
        query: {
          $expr: { $not: [{ $eq: [{ $getField: 'inputs.messages.0.content' }, { $literal: 'b' }] }] },
        },
        sort_by: [{ field: 'started_at', direction: 'desc' }],
      },
    }
    const reply = await collect(project, { from, into: INTO })
    expect(reply).toMatchObject({ rows: 2, left_out: [], groups: null, job_id: null })
    const [a, , c] = calls
    const row = (question: string, call: { id: string } | undefined) => ({
      messages: [
        { role: 'user', content: question },
        { role: 'assistant', content: question.toUpperCase() },
      ],
      call: refOf(project, call ?? { id: '' }),
    })
    expect(await rowsOf(project, reply.dataset_ref)).toEqual([row('c', c), row('a', a)])
    const limited = { calls: { ...from.calls, limit: 1 } }
    expect(await collect(project, { from: limited, into: INTO })).toMatchObject({ rows: 1 })
  })

  it('200 with the same version for the same calls', async () => {
    const project = server.newProject()
    await write(project, [chatCall('a', 'b')])
    const first = await collect(project, { from: { calls: {} }, into: INTO })
    expect(await collect(project, { from: { calls: {} }, into: INTO })).toEqual(first)
    expect(await objectsIn(project)).toBe(1)
  })

  it('200 and counts calls that failed, run or were not scored, and scores out of bounds', async () => {
    const project = server.newProject()
    const failed = chatCall('a', 'b', { exception: 'no' })
    const [unscored, unsaid, low, high, changed, wrong] = ['1', '2', '3', '4', '5', '6'].map((text) =>
      chatCall(text, text),
    )
    if (!unscored || !unsaid || !low || !high || !changed || !wrong) throw new Error('There are six')
    await write(project, [failed, unscored, unsaid, low, high, changed, wrong])
    const start = { project_id: project, op_name: 'op', started_at: '2026-01-03', attributes: {}, inputs: {} }
    await replyOf(await server.post('/call/start', { start }))
    await say(project, unsaid, 'grade', { other: 1 })
    await say(project, low, 'grade', { output: { match: false } })
    await say(project, high, 'grade', { output: { match: 5 } })
    await say(project, changed, 'grade', { output: { match: false } })
    await say(project, changed, 'grade', { output: { match: true } })
    await say(project, wrong, 'grade', { output: { match: 'yes' } })
    const score = { feedback_type: 'grade', path: 'output.match' }
    const where = { min_score: 0.5, max_score: 4 }
    const reply = await collect(project, { from: { calls: {} }, score, where, into: INTO })
    expect(await rowsOf(project, reply.dataset_ref)).toMatchObject([
      { score: 1, call: refOf(project, changed) },
    ])
    const counted = reply.left_out.map(({ reason, count, example_call_id }) => [
      reason,
      count,
      example_call_id,
    ])
    const noNumber = 'has no number at output.match of its newest feedback of type grade'
    expect(counted).toEqual(
      expect.arrayContaining([
        ['failed', 1, failed.id],
        ['has not ended', 1, expect.any(String)],
        ['has no feedback of type grade', 1, unscored.id],
        [noNumber, 2, unsaid.id],
        ['has a score below 0.5', 1, low.id],
        ['has a score above 4', 1, high.id],
      ]),
    )
    expect(counted.length).toBe(6)
  })

  it('400 with the reasons why nothing was collected, and nothing is written', async () => {
    const project = server.newProject()
    const call = chatCall('a', 'b', { exception: 'no' })
    await write(project, [call])
    const refused = await post(project, { from: { calls: {} }, into: INTO })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain(`1 × failed (such as call ${call.id})`)
    const empty = await post(server.newProject(), { from: { calls: {} }, into: INTO })
    expect([empty.status, await empty.text()]).toEqual([
      400,
      expect.stringContaining('there is no call to collect'),
    ])
    expect(await objectsIn(project)).toBe(0)
  })
})

describe('POST /v2/{entity}/{project}/collect from annotation_queue', () => {
  async function annotated(project: string, by: Record<string, 'mine' | 'theirs' | 'skipped' | 'open'>) {
    const calls = Object.keys(by).map((text) => chatCall(text, text))
    await write(project, calls)
    const queue = await newQueue(project)
    await add(
      project,
      queue,
      calls.map(({ id }) => id),
    )
    for (const { id: item, call_id } of await items(project, queue)) {
      const how = Object.values(by)[calls.findIndex(({ id }) => id === call_id)]
      if (how === 'skipped') await replyOf(await progress(project, { queue, item }, 'skipped'))
      if (how === 'mine' || how === 'theirs')
        await replyOf(await progress(project, { queue, item, key: how }, 'completed'))
    }
    return { queue, calls }
  }

  const namesIn = (rows: Fields[]) => rows.map(({ call }) => String(call).split('/').at(-1))

  it('200 with the completed items, of one annotator if one is named', async () => {
    const project = server.newProject()
    const { queue, calls } = await annotated(project, { a: 'mine', b: 'skipped', c: 'theirs', d: 'open' })
    const all = await collect(project, { from: { annotation_queue: { queue_id: queue } }, into: INTO })
    const found = namesIn(await rowsOf(project, all.dataset_ref))
    expect(new Set(found)).toEqual(new Set([calls[0]?.id, calls[2]?.id]))
    const annotator = String(
      (await items(project, queue)).find(({ call_id }) => call_id === calls[0]?.id)?.['annotator_user_id'],
    )
    const own = await collect(project, {
      from: { annotation_queue: { queue_id: queue, annotator } },
      into: INTO,
    })
    expect(namesIn(await rowsOf(project, own.dataset_ref))).toContain(calls[0]?.id)
    const nobody = { annotation_queue: { queue_id: queue, annotator: 'nobody' } }
    expect((await post(project, { from: nobody, into: INTO })).status).toBe(400)
  })

  it('200 by the value of an annotation; deleted calls are counted', async () => {
    const project = server.newProject()
    const { queue, calls } = await annotated(project, { a: 'mine', b: 'mine', c: 'mine' })
    const val = { _class_name: 'AnnotationSpec', _type: 'AnnotationSpec', field_schema: { type: 'boolean' } }
    const spec = { project_id: project, object_id: 'fine', val: { ...val, _bases: ['Object', 'BaseModel'] } }
    const { digest } = await replyOf(await server.post('/obj/create', { obj: spec }))
    for (const [index, value] of [true, false].entries()) {
      const feedback = {
        project_id: project,
        weave_ref: refOf(project, calls[index] ?? { id: '' }),
        feedback_type: 'wandb.annotation.fine',
        annotation_ref: `weave:///${project}/object/fine:${digest}`,
        payload: { value },
        queue_id: queue,
      }
      await replyOf(await server.post('/feedback/create', feedback))
    }
    await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [calls[2]?.id] }))
    const reply = await collect(project, {
      from: { annotation_queue: { queue_id: queue } },
      score: { annotation: 'fine' },
      where: { min_score: 1 },
      into: INTO,
    })
    expect(namesIn(await rowsOf(project, reply.dataset_ref))).toEqual([calls[0]?.id])
    expect(reply.left_out).toEqual(
      expect.arrayContaining([
        { reason: 'was deleted', count: 1, example_call_id: calls[2]?.id },
        { reason: 'has a score below 1', count: 1, example_call_id: calls[1]?.id },
      ]),
    )
  })

  it('404 for a queue that the project does not have', async () => {
    const project = server.newProject()
    const queue_id = await newQueue(project)
    const from = { annotation_queue: { queue_id } }
    expect((await post(server.newProject(), { from, into: INTO })).status).toBe(404)
    expect(
      (await post(project, { from: { annotation_queue: { queue_id: newId() } }, into: INTO })).status,
    ).toBe(404)
    expect((await post(project, { from, into: INTO })).status).toBe(400)
  })
})

describe('POST /v2/{entity}/{project}/collect from eval_results', () => {
  /** A run as clients write it: a row in each of their spellings, with the example by value or in a dataset. */
  async function evaluated(project: string) {
    const table = await replyOf(
      await server.post('/table/create', {
        table: { project_id: project, rows: [{ question: 'in a table', target: 'x' }] },
      }),
    )
    const val = {
      _type: 'Dataset',
      _class_name: 'Dataset',
      rows: `weave:///${project}/table/${table['digest']}`,
    }
    const { digest } = await replyOf(
      await server.post('/obj/create', { obj: { project_id: project, object_id: 'rows', val } }),
    )
    const [row] = table['row_digests'] as string[]
    const inTable = `weave:///${project}/object/rows:${digest}/attr/rows/id/${row}`
    const root = finishedCall({ op_name: 'Evaluation.evaluate' })
    const trial = (
      op_name: string,
      example: unknown,
      { inputs, output, said }: { inputs: Fields; output: string; said: number },
    ) => {
      const parent = finishedCall({
        op_name,
        trace_id: root['trace_id'],
        parent_id: root.id,
        inputs: { self: 'e', model: 'm', example },
        output: { output, scores: { exact: { match: said === 1 }, length: said }, model_latency: 1 },
      })
      const family = { trace_id: root['trace_id'], parent_id: parent.id }
      return [
        parent,
        finishedCall({ ...family, op_name: 'Model.predict', inputs: { self: 'm', ...inputs }, output }),
      ]
    }
    const python = trial('Evaluation.predict_and_score', inTable, {
      inputs: { question: `${inTable}/key/question` },
      output: 'py',
      said: 1,
    })
    const js = trial(
      'Evaluation.predictAndScore',
      { question: 'js', target: 'y' },
      {
        inputs: { question: 'js' },
        output: 'jay',
        said: 0,
      },
    )
    await write(project, [root, ...python, ...js])
    return { root, python, js }
  }

  it('200 with the predictions of both spellings, their scores, and the rows of datasets behind refs', async () => {
    const project = server.newProject()
    const { root, python, js } = await evaluated(project)
    const from = { eval_results: { evaluation_call_ids: [root.id] } }
    const reply = await collect(project, { from, score: { scorer: 'exact', path: 'match' }, into: INTO })
    const said = (question: string, answer: string) => [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]
    const rows = await rowsOf(project, reply.dataset_ref)
    expect(rows).toHaveLength(2)
    expect(rows).toEqual(
      expect.arrayContaining([
        { messages: said('in a table', 'py'), score: 1, call: refOf(project, python[1] ?? root) },
        { messages: said('js', 'jay'), score: 0, call: refOf(project, js[1] ?? root) },
      ]),
    )
    const columns = { question: 'inputs.question', wanted: 'inputs.target', got: 'output' }
    const chosen = await collect(project, {
      from,
      score: { scorer: 'length' },
      where: { max_score: 0 },
      into: { dataset: { name: 'bad', columns } },
    })
    expect(await rowsOf(project, chosen.dataset_ref)).toEqual([
      { question: 'js', wanted: 'y', got: 'jay', call: refOf(project, js[1] ?? root) },
    ])
    const unknown = await post(project, { from, score: { scorer: 'other' }, into: INTO })
    expect([unknown.status, await unknown.text()]).toEqual([
      400,
      expect.stringContaining('has no score by other'),
    ])
  })

  it('200 with predictions that came over HTTP', async () => {
    const project = server.newProject()
    const ask = async (path: string, body: Fields) =>
      replyOf(await server.post(`/v2/${project}/${path}`, body))
    const { evaluation_run_id } = await ask('evaluation_runs', {
      evaluation: 'weave:///a/b/object/e:1',
      model: 'm',
    })
    const inputs = { question: 'over HTTP' }
    const { prediction_id } = await ask('predictions', {
      model: 'm',
      inputs,
      output: 'yes',
      evaluation_run_id,
    })
    const scorer = `weave:///${project}/object/exact:1`
    await ask('scores', { prediction_id, scorer, value: 0.5, evaluation_run_id })
    const reply = await collect(project, {
      from: { eval_results: { evaluation_call_ids: [evaluation_run_id] } },
      score: { feedback_type: 'wandb.runnable.exact', path: 'output' },
      into: INTO,
    })
    expect(await rowsOf(project, reply.dataset_ref)).toMatchObject([
      { messages: [{ content: 'over HTTP' }, { content: 'yes' }], score: 0.5 },
    ])
  })

  it('200 without a prediction that is deleted meanwhile, which is counted', async () => {
    const project = server.newProject()
    const { root, python, js } = await evaluated(project)
    const deleted = python[1]?.id
    const { traces } = server.stores
    const ask = traces.query.bind(traces)
    using _query = vi.spyOn(traces, 'query').mockImplementation(async function* <Row>(
      ...asked: Parameters<typeof ask>
    ) {
      yield* ask<Row>(...asked)
      // The calls below trials are known once this query has ended.
      if (!asked[0].sql.includes('AS is_score')) return
      await replyOf(await server.post('/calls/delete', { project_id: project, call_ids: [deleted] }))
    })
    const reply = await collect(project, {
      from: { eval_results: { evaluation_call_ids: [root.id] } },
      into: INTO,
    })
    expect(await rowsOf(project, reply.dataset_ref)).toMatchObject([{ call: refOf(project, js[1] ?? root) }])
    expect(reply.left_out).toEqual([{ reason: 'was deleted', count: 1, example_call_id: deleted }])
  })

  it('404 for an unknown evaluation, 400 for other calls, and for a scorer without an evaluation', async () => {
    const project = server.newProject()
    const { root, python } = await evaluated(project)
    const statusOf = async (ids: unknown[], name = project) =>
      (await post(name, { from: { eval_results: { evaluation_call_ids: ids } }, into: INTO })).status
    expect(await statusOf([root.id, newId()])).toBe(404)
    expect(await statusOf([root.id], server.newProject())).toBe(404)
    expect(await statusOf([python[0]?.id])).toBe(400)
    expect(await statusOf([])).toBe(422)
    const score = { scorer: 'exact' }
    expect((await post(project, { from: { calls: {} }, score, into: INTO })).status).toBe(400)
  })
})
