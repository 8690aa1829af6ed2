import { afterAll, describe, expect, it } from 'vitest'
import { openFakeProvider, promptOf } from '../../inference/playground/fake-provider.ts'
import { eventually } from '../../test-eventually.ts'
import { type Fields, replyOf, useTestServer } from '../../testing.ts'
import { callsIn, publishing } from '../test-objects.ts'

const provider = await openFakeProvider()
afterAll(() => provider[Symbol.asyncDispose]())

const server = useTestServer({
  providers: new Map([['fake', { baseUrl: provider.baseUrl, apiKey: undefined }]]),
})
const objects = publishing(server)

/** Evaluates the rows to the end; returns the status and the calls of the rows. */
async function evaluate(project_id: string, rows: readonly Fields[], scorers: readonly string[]) {
  const dataset = await objects.dataset(project_id, rows)
  const evaluation_ref = await objects.evaluation(project_id, dataset, scorers)
  const request = { project_id, evaluation_ref, model_ref: await objects.model(project_id) }
  const { call_id } = await replyOf(await server.post('/evaluations/evaluate_model', request))
  const status = await eventually(async () => {
    const reply = await replyOf(await server.post('/evaluations/status', { project_id, call_id }))
    const now = reply['status'] as Fields
    expect(now['code']).not.toBe('running')
    return now
  })
  return { status, calls: await callsIn(server, project_id) }
}

const timesAsked = (prompt: string): number =>
  provider.requests.filter(({ body }) => promptOf(body) === prompt).length

describe('POST /evaluations/evaluate_model', () => {
  it('200 asks a provider that fails six times for a row, and for an answer that cannot be read once', async () => {
    const project = server.newProject()
    const judge = await objects.scorer(project, 'LLMAsAJudgeScorer', {
      name: 'judge',
      model: await objects.model(project),
      scoring_prompt: '{verdict}',
    })
    const rows = [
      { user_input: '500' },
      { user_input: 'html' },
      { user_input: 'empty' },
      { user_input: 'say paid', verdict: '503' },
      { user_input: 'at the third try: say x', verdict: 'say good' },
    ]
    const { status, calls } = await evaluate(project, rows, [judge])
    expect(status['code']).toBe('complete')
    const prompts = ['500', 'html', 'empty', 'say paid', '503', 'at the third try: say x', 'say good']
    expect(Object.fromEntries(prompts.map((prompt) => [prompt, timesAsked(prompt)]))).toEqual({
      '500': 6,
      html: 1,
      empty: 1,
      'say paid': 1,
      '503': 6,
      'at the third try: say x': 3,
      'say good': 1,
    })
    const predictions = calls.filter(({ op_name }) => String(op_name).includes('.predict:'))
    expect(predictions.map(({ exception, output }) => exception ?? output).sort()).toEqual([
      'I am a fake',
      'Provider fake: 500 made to fail',
      expect.stringMatching(/^The model answered something that is not JSON: $/),
      expect.stringMatching(/^The model answered something that is not JSON: <html>/),
      'paid',
    ])
  })
})
