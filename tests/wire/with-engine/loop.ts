import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { trainingClient } from '../training-client.ts'
import { engineServer } from './server.ts'

/** The questions of the client program, and how often it asks each. */
const QUESTIONS = 3
const SAMPLES = 5

const BASE_MODEL = 'heddle/loom-tiny'

const training = trainingClient(engineServer)

function python(program: string, ...args: string[]): Promise<Record<string, unknown>> {
  const command = [
    pythonIn('clients'),
    clientProgram(program),
    engineServer().url,
    engineServer().key,
    ...args,
  ]
  return runClient(command, { WANDB_BASE_URL: engineServer().url })
}

/** What PyPI weave reads of datasets of a project. */
async function readDatasets(project: string, ...refs: unknown[]): Promise<unknown[]> {
  const { datasets } = await python('weave_loop.py', project, ...refs.map(String))
  return datasets as unknown[]
}

/** The command line, which waits for the job where it starts one. */
function collect(project: string, ...args: string[]): Promise<Record<string, unknown>> {
  const where = ['--url', engineServer().url, '--key', engineServer().key, '--project', `local/${project}`]
  const watch = args.includes('--train') ? ['--watch'] : []
  const command = [process.execPath, 'scripts/collect.ts', ...where, '--json', ...watch, ...args]
  return runClient(command, {})
}

async function jobOf(reply: Record<string, unknown>): Promise<Record<string, unknown>> {
  return training.call('GET', `/v1/preview/training-jobs/${reply['job_id']}`)
}

describe('PyPI weave and openai, and training on their calls', () => {
  const project = `loop-${randomUUID().slice(0, 8)}`
  let traced: { calls: string[]; outputs: string[] }

  beforeAll(async () => {
    // Parsed from what the program prints, which has these two.
    traced = (await python('weave_loop.py', project)) as typeof traced
    expect(traced.calls).toHaveLength(QUESTIONS * SAMPLES)
  })

  it('calls with scores become SFT data by one request, and a checkpoint that names its rows', async () => {
    const reply = await training.call<Record<string, unknown>>('POST', `/v2/local/${project}/collect`, {
      from: { calls: { filter: { op_names: [`weave:///local/${project}/op/answer:*`] } } },
      score: { feedback_type: 'wandb.runnable.Length', path: 'output.length' },
      where: { min_score: 1 },
      into: { sft: { name: 'answers', train: { model: 'student', base_model: BASE_MODEL } } },
    })
    const kept = traced.outputs.filter((output) => output.length > 0)
    expect(reply).toMatchObject({ rows: kept.length, groups: null })
    const end = await training.end(String(reply['job_id']))
    expect(end).toMatchObject({ type: 'training_ended' })
    const job = await jobOf(reply)
    expect(job).toMatchObject({ state: 'succeeded', dataset_ref: reply['dataset_ref'] })
    const path = `/v1/preview/models/${job['model_id']}/checkpoints/step${job['checkpoint_step']}`
    const checkpoint = await training.call<Record<string, unknown>>('GET', path)
    expect(checkpoint).toMatchObject({ step: 1, job_id: job['id'], dataset_ref: reply['dataset_ref'] })

    const [read] = (await readDatasets(project, checkpoint['dataset_ref'])) as Record<string, unknown>[]
    const called = traced.calls.filter((_, index) => traced.outputs[index] !== '')
    expect(read).toMatchObject({
      class: 'Dataset',
      calls: called.map((id) => ({ id, op: 'answer' })),
      scores: kept.map((output) => output.length),
    })
    expect(read?.['messages']).toEqual(
      kept.map((content) => [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: expect.any(String) },
        { role: 'assistant', content },
      ]),
    )
  })

  it('the command line makes trajectory groups of them, on which training is on-policy', async () => {
    const score = ['--score', 'wandb.runnable.Length:output.length']
    const into = [
      '--into',
      'groups',
      '--name',
      'attempts',
      '--train',
      'apprentice',
      '--base-model',
      BASE_MODEL,
    ]
    const reply = await collect(project, '--op', 'answer', ...score, ...into, '--learning-rate', '1e-5')
    expect(reply).toMatchObject({ groups: expect.any(Number), job_id: expect.any(String) })
    const job = await jobOf(reply)
    expect(job).toMatchObject({ kind: 'rl', state: 'succeeded', dataset_ref: reply['dataset_ref'] })
    const steps = (await training.eventsOf(String(job['id']))).filter(({ type }) => type === 'gradient_step')
    expect(steps.length).toBeGreaterThan(0)
    for (const { data } of steps) {
      expect(data).toMatchObject({ 'on_policy/tokens_without_logprobs': 0 })
      expect(data['on_policy/logprob_gap_max']).toBeLessThan(1e-3)
    }
  })

  it("the command line ends with the server's error", async () => {
    const refused = collect(project, '--into', 'sft', '--name', 'x', '--op', 'nothing')
    await expect(refused).rejects.toThrow(
      /ended with status 1[\s\S]*400: Nothing was collected: there is no call/,
    )
    const unknown = collect(project, '--into', 'sft', '--name', 'x', '--train', 'nobody')
    await expect(unknown).rejects.toThrow(/404: model nobody of the project/)
    await expect(collect(project, '--into', 'x', '--name', 'x')).rejects.toThrow(/--into is/)
  })

  it('predictions of evaluations become rows, from any client', async () => {
    const own = `loop-${randomUUID().slice(0, 8)}`
    const seen = await python('weave_loop_evaluations.py', own)
    const { evaluation } = await runClient(
      [process.execPath, clientProgram('weave_loop_evaluations.mjs'), `local/${own}`],
      {
        WANDB_BASE_URL: engineServer().url,
        WF_TRACE_SERVER_URL: engineServer().url,
        WANDB_API_KEY: engineServer().key,
      },
    )
    const refs: unknown[] = []
    for (const id of [seen['evaluation'], seen['logged'], evaluation]) {
      const score = ['--score', 'scorer:exact:match', '--min-score', '1']
      const messages = ['--prompt', 'inputs.question', '--answer', 'output', '--system', 'Shout.']
      const into = ['--into', 'sft', '--name', 'shouted']
      const from = ['--from', 'evaluation', '--evaluation', String(id)]
      const reply = await collect(own, ...from, ...score, ...messages, ...into)
      expect(reply).toMatchObject({ rows: 1, left_out: [{ reason: 'has a score below 1', count: 1 }] })
      refs.push(reply['dataset_ref'])
    }
    const messages = [
      { role: 'system', content: 'Shout.' },
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'ONE' },
    ]
    const shouted = { scores: [1], messages: [messages] }
    expect(await readDatasets(own, ...refs)).toMatchObject([shouted, shouted, shouted])
  })

  it('no request of the clients failed', async () => {
    const failed = (await engineServer().takeRequests()).filter(
      ({ status, path }) => status >= 400 && !path.endsWith('/collect'),
    )
    expect(failed).toEqual([])
  })
})
