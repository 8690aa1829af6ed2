import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { TEST_BASE_MODEL } from '../test-app.ts'
import { type Fields, replyOf } from '../testing.ts'
import { json, useTrainingServer } from '../training/use-training-server.ts'
import { chatCall, refOf, useCollecting } from './test-collecting.ts'
import type { CollectRes } from './wire.ts'

const training = useTrainingServer()
const { server, end } = training
const { post, collect, say, write, rowsOf, objectsIn } = useCollecting(server)

const FROM = { calls: {} }
const SCORE = { feedback_type: 'grade', path: 'value' }
const MODEL = { model: 'student', base_model: TEST_BASE_MODEL }

/** Answers with their rewards, by prompt. */
async function graded(
  project: string,
  attempts: readonly (readonly [string, number])[],
  fields: Fields = {},
) {
  const calls = attempts.map(([prompt], index) => chatCall(prompt, `answer ${index}`, fields))
  await write(project, calls)
  for (const [index, call] of calls.entries())
    await say(project, call, 'grade', { value: attempts[index]?.[1] })
  return calls
}

interface Job extends Fields {
  id: string
  model_id: string
}

const jobOf = async ({ job_id }: CollectRes): Promise<Job> =>
  json<Job>(await server.request(`/v1/preview/training-jobs/${job_id}`))

const checkpointOf = async ({ model_id }: Job): Promise<Fields> =>
  json<Fields>(await server.request(`/v1/preview/models/${model_id}/checkpoints/latest`))

describe('POST /v2/{entity}/{project}/collect into sft', () => {
  it('200 with a job; job, checkpoint and artifact name the rows, and those their calls', async () => {
    const project = server.newProject()
    const calls = await graded(project, [
      ['a', 1],
      ['b', 0],
      ['c', 1],
    ])
    const reply = await collect(project, {
      from: FROM,
      score: SCORE,
      where: { min_score: 1 },
      into: { sft: { name: 'good', train: { ...MODEL, config: { batch_size: 1, learning_rate: 0.001 } } } },
    })
    expect(reply).toMatchObject({ rows: 2, groups: null })
    const events = await end(String(reply.job_id))
    expect(events.map(({ type }) => type).at(-1)).toBe('training_ended')
    const job = await jobOf(reply)
    expect(job).toMatchObject({ kind: 'sft', state: 'succeeded', dataset_ref: reply.dataset_ref })
    expect(await checkpointOf(job)).toMatchObject({ step: 1, job_id: job.id, dataset_ref: reply.dataset_ref })
    const page = await json<{ data: Fields[] }>(
      await server.request(`/v1/preview/models/${job.model_id}/checkpoints`),
    )
    expect(page.data.map(({ dataset_ref }) => dataset_ref)).toEqual([null, reply.dataset_ref])
    const [entity, projectName] = project.split('/')
    const query = `query Q($entity: String!, $project: String!) { project(name: $project, entityName: $entity) {
      artifact(name: "student:step1") { metadata } } }`
    const shown = await replyOf<{ data: { project: { artifact: { metadata: string } } } }>(
      await server.post('/graphql', { query, variables: { entity, project: projectName } }),
    )
    expect(JSON.parse(shown.data.project.artifact.metadata)).toMatchObject({
      step: 1,
      dataset_ref: reply.dataset_ref,
    })
    const rows = await rowsOf(project, reply.dataset_ref)
    expect(rows.map(({ call }) => call)).toEqual(
      [calls[0], calls[2]].map((call) => refOf(project, call ?? { id: '' })),
    )
  })

  it('200 with a dataset that can be trained on later, by its ref', async () => {
    const project = server.newProject()
    await graded(project, [['a', 1]])
    const reply = await collect(project, { from: FROM, into: { sft: { name: 'good' } } })
    expect(reply.job_id).toBe(null)
    const [entity, projectName] = project.split('/')
    const model = await json<{ id: string }>(
      await server.post('/v1/preview/models', {
        entity,
        project: projectName,
        name: 'm',
        base_model: TEST_BASE_MODEL,
      }),
    )
    const train = (training_data_url: string) =>
      server.post('/v1/preview/sft-training-jobs', { model_id: model.id, training_data_url })
    const job = await json<Fields>(await train(reply.dataset_ref.replace(/:\w+$/, ':latest')))
    expect(job).toMatchObject({ dataset_ref: reply.dataset_ref })
    const events = await end(String(job['id']))
    expect(events.filter(({ type }) => type === 'gradient_step')).toHaveLength(1)
    expect((await train(`weave:///${project}/object/nothing:v0`)).status).toBe(404)
    expect((await train(`weave:///${project}/call/1`)).status).toBe(400)
    const columns = { text: 'inputs.messages.0.content' }
    const other = await collect(project, { from: FROM, into: { dataset: { name: 'texts', columns } } })
    const refused = await train(other.dataset_ref)
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('Row 1 of the dataset'),
    ])
  })

  it('404 for a model that is not of the project; 409 for another base model; nothing is written', async () => {
    const project = server.newProject()
    await graded(project, [['a', 1]])
    const elsewhere = await training.newModel()
    const statusOf = async (train: Fields) =>
      (await post(project, { from: FROM, into: { sft: { name: 'good', train } } })).status
    expect(await statusOf({ model: 'nobody' })).toBe(404)
    expect(await statusOf({ model: elsewhere.id })).toBe(404)
    expect(await objectsIn(project)).toBe(0)
    expect(await statusOf(MODEL)).toBe(200)
    expect(await statusOf({ model: 'student' })).toBe(200)
    expect(await statusOf({ ...MODEL, base_model: 'another/base' })).toBe(409)
  })
})

describe('POST /v2/{entity}/{project}/collect into trajectory_groups', () => {
  const groupsInto = (fields: Fields = {}) => ({ trajectory_groups: { train: MODEL, ...fields } })

  it('200 with a job on groups by prompt; groups without differences are counted', async () => {
    const project = server.newProject()
    const calls = await graded(project, [
      ['a', 1],
      ['b', 0.3],
      ['a', 0],
      ['b', 0.3],
      ['c', 1],
      ['b', 0.3],
    ])
    const reply = await collect(project, { from: FROM, score: SCORE, into: groupsInto() })
    expect(reply).toMatchObject({ rows: 2, groups: 1 })
    expect(reply.left_out).toEqual([
      {
        reason: 'has the same reward as every attempt at its prompt',
        count: 3,
        example_call_id: calls[1]?.id,
      },
      { reason: 'is the only attempt at its prompt', count: 1, example_call_id: calls[4]?.id },
    ])
    expect((await end(String(reply.job_id))).at(-1)?.type).toBe('training_ended')
    expect(await jobOf(reply)).toMatchObject({
      kind: 'rl',
      dataset_ref: reply.dataset_ref,
      counts: { groups: 1, trajectories: 2 },
    })
    expect(await checkpointOf(await jobOf(reply))).toMatchObject({ dataset_ref: reply.dataset_ref })
    expect(await rowsOf(project, reply.dataset_ref)).toMatchObject([
      { score: 1, call: refOf(project, calls[0] ?? { id: '' }) },
      { score: 0, call: refOf(project, calls[2] ?? { id: '' }) },
    ])
    const file = `${training.folder}/blobs/trajectory-groups/${reply.job_id}.jsonl`
    const group = JSON.parse(readFileSync(file, 'utf8'))
    expect(group.trajectories).toMatchObject([
      {
        reward: 1,
        messages_and_choices: [
          { role: 'user', content: 'a' },
          {
            finish_reason: 'stop',
            message: { content: 'answer 0' },
            logprobs: { content: [{ token: 'token_id:13' }] },
          },
        ],
        metadata: { call_id: calls[0]?.id },
      },
      { reward: 0, metadata: { call_id: calls[2]?.id } },
    ])
    const { count } = await replyOf(await server.post('/calls/query_stats', { project_id: project }))
    expect(count, 'what came from calls does not become calls again').toBe(calls.length)
  })

  it('200 by the paths of the reward and of the task', async () => {
    const project = server.newProject()
    const attempt = (task: string, reward: unknown, text: string) =>
      chatCall(text, text, { attributes: { task, reward } })
    const calls = [
      attempt('x', true, '1'),
      attempt('x', false, '2'),
      attempt('y', 0.5, '3'),
      attempt('y', 'no', '4'),
    ]
    await write(project, calls)
    const options = { group_by: 'attributes.task', reward: 'attributes.reward' }
    const reply = await collect(project, { from: FROM, into: groupsInto(options) })
    expect(reply).toMatchObject({ rows: 2, groups: 1 })
    expect(reply.left_out.map(({ reason }) => reason)).toEqual([
      'has no number at attributes.reward',
      'is the only attempt at its prompt',
    ])
    const nowhere = await post(project, {
      from: FROM,
      into: groupsInto({ ...options, group_by: 'attributes.a.b' }),
    })
    expect([nowhere.status, await nowhere.text()]).toEqual([
      400,
      expect.stringContaining('has nothing at attributes.a.b'),
    ])
  })

  it('400 for attempts without log-probabilities, unless training may do without, or nothing is trained', async () => {
    const project = server.newProject()
    // The trainer takes ids alone for no sample.
    const output = { choices: [{ message: { role: 'assistant', content: 'x' }, token_ids: [300] }] }
    await graded(
      project,
      [
        ['a', 1],
        ['a', 0],
      ],
      { output },
    )
    const refused = await post(project, { from: FROM, score: SCORE, into: groupsInto() })
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining('has no log-probabilities'),
    ])
    expect(await objectsIn(project)).toBe(0)
    const allowed = { ...MODEL, config: { allow_training_without_logprobs: true } }
    const trained = await collect(project, { from: FROM, score: SCORE, into: groupsInto({ train: allowed }) })
    expect((await end(String(trained.job_id))).at(-1)?.type).toBe('training_ended')
    const kept = await collect(project, {
      from: FROM,
      score: SCORE,
      into: groupsInto({ train: null, name: 'kept' }),
    })
    expect(kept).toMatchObject({ rows: 2, groups: 1, job_id: null })
  })

  it('400 without a reward, or where no group has differences', async () => {
    const project = server.newProject()
    await graded(project, [['a', 1]])
    expect((await post(project, { from: FROM, into: groupsInto() })).status).toBe(400)
    const alone = await post(project, { from: FROM, score: SCORE, into: groupsInto() })
    expect([alone.status, await alone.text()]).toEqual([400, expect.stringContaining('the only attempt')])
  })
})
