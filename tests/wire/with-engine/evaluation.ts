import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { pythonIn } from '../../../scripts/python-environments.ts'
import { clientProgram } from '../client-program.ts'
import { runClient } from '../server.ts'
import { engineServer } from './server.ts'

/** Four times as many as are done before the kill. */
const ROWS = 200
const PROJECT = 'local/evaluated'
/** The rows take minutes where others work too. */
const END_MS = 600_000

let cache: string

beforeAll(async () => {
  cache = await mkdtemp(join(tmpdir(), 'heddle-weave-cache-'))
})
afterAll(() => rm(cache, { recursive: true, force: true }))

function weave(program: string, args: readonly string[], env: Record<string, string> = {}) {
  return runClient([pythonIn('clients'), clientProgram(program), ...args], {
    WANDB_BASE_URL: engineServer().url,
    WANDB_API_KEY: engineServer().key,
    WEAVE_SERVER_CACHE_DIR: cache,
    ROWS: String(ROWS),
    ...env,
  })
}

async function post(path: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${engineServer().key}` }
  const response = await fetch(`${engineServer().url}${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect(response.status, `${path}: ${await response.clone().text()}`).toBe(200)
  return response
}

interface Status {
  code: string
  completed_rows?: number
  output?: Record<string, unknown>
}

async function statusOf(call_id: unknown): Promise<Status> {
  const response = await post('/evaluations/status', { project_id: PROJECT, call_id })
  return ((await response.json()) as { status: Status }).status
}

async function children(
  call_id: unknown,
): Promise<{ id: string; op_name: string; inputs: { example?: string } }[]> {
  const response = await post('/calls/stream_query', {
    project_id: PROJECT,
    filter: { parent_ids: [call_id] },
  })
  return (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Without the values that differ in every run. */
function comparable({ model_latency, ...summary }: Record<string, unknown>): unknown {
  expect(model_latency).toEqual({ mean: expect.any(Number) })
  return summary
}

describe('an evaluation that the server runs', () => {
  it('survives a kill -9, does no row twice, and has the results of weave.Evaluation', async () => {
    const refs = await weave('weave_evaluate_model.py', ['publish'])
    const started = await post('/evaluations/evaluate_model', { project_id: PROJECT, ...refs })
    const { call_id } = (await started.json()) as { call_id: string }
    await vi.waitFor(
      async () => {
        const { code, completed_rows = 0 } = await statusOf(call_id)
        expect(code).toBe('running')
        expect(completed_rows).toBeGreaterThan(50)
      },
      { timeout: END_MS, interval: 100 },
    )
    await engineServer().signal('SIGKILL')
    await engineServer().start()
    const before = await children(call_id)
    expect(before.length).toBeGreaterThan(50)
    expect(before.length).toBeLessThan(ROWS)
    const end = await vi.waitFor(
      async () => {
        const status = await statusOf(call_id)
        expect(status.code).toBe('complete')
        return status
      },
      { timeout: END_MS, interval: 500 },
    )
    const rows = (await children(call_id)).filter(({ op_name }) => op_name.includes('predict_and_score'))
    expect(new Set(rows.map(({ inputs }) => inputs.example)).size).toBe(ROWS)
    expect(rows.length).toBe(ROWS)
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(before.map(({ id }) => id)))

    const env = {
      EVALUATION: String(refs['evaluation_ref']),
      CALL_ID: call_id,
    }
    const { summary, theirs } = (await weave('weave_evaluate_model.py', ['evaluate'], env)) as {
      summary: Record<string, unknown>
      theirs: Record<string, unknown>
    }
    expect(comparable(end.output ?? {})).toEqual(comparable(summary))
    expect(theirs).toMatchObject({
      name: 'Evaluation.evaluate',
      output: end.output,
      rows: ROWS,
      of_the_evaluation: 2,
    })
  })
})

describe('a monitor that PyPI weave publishes', () => {
  it('scores the later calls of its ops', async () => {
    expect(await weave('weave_monitor.py', [])).toEqual({
      json: { 'wandb.runnable.ValidJSONScorer': { json_valid: true }, 'wandb.runnable.Brief': false },
      plain: { 'wandb.runnable.ValidJSONScorer': { json_valid: false }, 'wandb.runnable.Brief': true },
      skipped: {},
      other: {},
      before: {},
      scored_by: ['JSON please', 'please'],
      turns: [true],
      by_the_monitor: true,
    })
  })
})
