import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isReady, pythonIn } from '../../../scripts/python-environments.ts'
import { clientFolders } from '../client-folders.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { WEATHER_QUESTION, WEATHER_TOOL } from '../weather-tool.ts'
import { engineServer } from './server.ts'

const NODE = join(import.meta.dirname, '../../../node_modules/.bin/node')

/** Settings under which versions of a client share no files, and do not read those of the machine. */
async function settings(): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-versions-'))
  return {
    WANDB_BASE_URL: engineServer().url,
    WF_TRACE_SERVER_URL: engineServer().url,
    WANDB_API_KEY: engineServer().key,
    ...clientFolders(folder),
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
  }
}

async function failures(): Promise<string[]> {
  const failed = (await engineServer().takeRequests()).filter(({ status }) => status >= 400)
  return failed.map(({ path, status }) => `${status} ${path}`)
}

/** Without a key of W&B the client opens no run, which it would write to after its model is deleted. */
const TRAINING = { LITELLM_LOCAL_MODEL_COST_MAP: 'True' }

/** Newest clients need a newer Python than the project: set-up reports where the machine has none. */
describe.each(['clients-oldest', 'clients-newest'] as const)('%s', (environment) => {
  const works = it.skipIf(!isReady(environment))

  works('weave: calls, objects, evaluations, feedback, without a failed request', async () => {
    const seen = await runClient([pythonIn(environment), clientProgram('weave_basic.py')], await settings())
    expect(seen).toMatchObject({ calls: { output: { v: 4, u: 5 } }, objects: { same_again: true } })
    expect(await failures()).toEqual([])
  })

  works('wandb: a run and an artifact, without a failed request', async () => {
    const program = [pythonIn(environment), clientProgram('wandb_run.py'), `versions-${environment}`]
    const seen = await runClient(program, await settings())
    expect(seen).toEqual({ state: 'finished', lr: 0.1, losses: [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5], file: 'one' })
    expect(await failures()).toEqual([])
  })

  works('openpipe-art: rollouts, training, every step, exactly what was sampled', async () => {
    const program = [
      pythonIn(environment),
      clientProgram('art_basic.py'),
      engineServer().url,
      engineServer().key,
    ]
    const seen = await runClient([...program, `art-${randomUUID().slice(0, 8)}`], TRAINING)
    expect(seen).toMatchObject({ trained: [{ step: 1 }, { step: 2 }], untrainable_step: 3 })
    for (const { metrics } of seen['trained'] as { metrics: Record<string, number> }[]) {
      expect(metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-4)
      expect(metrics['on_policy/tokens_with_rebuilt_context']).toBe(0)
    }
    expect((await failures()).filter((line) => line !== '404 /v1/chat/completions')).toEqual([])
  })
})

describe('the newest openpipe-art', () => {
  it.skipIf(!isReady('clients-newest'))('trains on exchanges that it has recorded', async () => {
    const program = [
      pythonIn('clients-newest'),
      clientProgram('art_exchanges.py'),
      engineServer().url,
      engineServer().key,
    ]
    const seen = await runClient([...program, `art-${randomUUID().slice(0, 8)}`], TRAINING)
    expect(seen['members']).toContain('exchanges')
    expect(seen['members']).not.toContain('messages_and_choices')
    expect(seen['step']).toBe(1)
    const metrics = seen['metrics'] as Record<string, number>
    expect(metrics['on_policy/tokens_with_logprobs']).toBeGreaterThan(0)
    expect(metrics['on_policy/logprob_gap_max']).toBeLessThan(1e-4)
    expect(metrics['on_policy/tokens_with_rebuilt_context']).toBe(0)
    expect(await failures()).toEqual([])
  })
})

const TASK = {
  question: 'What is 2 + 3?',
  tool_question: WEATHER_QUESTION,
  tool: WEATHER_TOOL,
  schema: { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] },
}
const ANSWERED = {
  text: 'The answer is 5.',
  streamed: 'The answer is 5.',
  tool: ['get_weather', { city: 'Paris' }],
}

describe('openai', () => {
  const asked = (): Record<string, string> => ({
    BASE_URL: engineServer().url,
    API_KEY: engineServer().key,
    TASK: JSON.stringify(TASK),
  })

  it.each(['openai-oldest', 'openai-newest'] as const)('for Python: %s', async (environment) => {
    const program = [pythonIn(environment), clientProgram('openai_chat.py')]
    expect(await runClient(program, asked())).toMatchObject(ANSWERED)
  })

  it.each(['openai-oldest', 'openai'])('for JavaScript: %s', async (OPENAI_PACKAGE) => {
    const program = [NODE, clientProgram('openai_chat.mjs')]
    expect(await runClient(program, { ...asked(), OPENAI_PACKAGE })).toMatchObject(ANSWERED)
  })
})

describe('npm weave', () => {
  it.each(['weave-oldest', 'weave'])('%s works without a failed request', async (WEAVE_PACKAGE) => {
    await failures()
    const seen = await runClient([NODE, clientProgram('weave_basic.mjs')], {
      ...(await settings()),
      WEAVE_PACKAGE,
    })
    expect(seen).toMatchObject({ summary: { true_count: 1 }, errors: expect.any(Number) })
    expect(await failures()).toEqual([])
  })
})
