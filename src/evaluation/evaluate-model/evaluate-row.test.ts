import { describe, expect, it } from 'vitest'
import { invalidRequest, StoreFailed, unavailable } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { BadAnswer, NoAnswer } from '../../inference/playground/answer-errors.ts'
import { recordCalls } from '../recorded-calls.ts'
import { scoreFeedback } from '../scorers/score-feedback.ts'
import type { Scored, Scorer } from '../scorers/scorer.ts'
import { evaluateRow, type RowDeps } from './evaluate-row.ts'

const project_id = 'e/p'
const ref = (kind: string, name: string): string => `weave:///${project_id}/${kind}/${name}:d`

function depsOf(score: Scorer['score'], deps: Partial<RowDeps> = {}): RowDeps {
  const base = newId()
  const ask = () => Promise.reject(new Error('No model is asked'))
  const scorer = { name: 'judge', ref: ref('object', 'judge'), opRef: ref('op', 'judge.score'), score }
  const { signal } = new AbortController()
  return {
    evaluation: {
      evaluationRef: ref('object', 'evaluation'),
      displayName: undefined,
      modelRef: ref('object', 'model'),
      model: { _class_name: 'LLMStructuredCompletionModel', llm_model_id: 'm' },
      scorers: [scorer],
      rowRef: `${ref('object', 'rows')}/attr/rows/id/`,
      table: { projectId: project_id, digest: 'd', rows: 1 },
      trials: 1,
    },
    calls: recordCalls({ project_id, trace_id: base, parent_id: base, base, attributes: {}, user: 'u' }),
    opRef: (name) => ref('op', name),
    askAs: () => ask,
    isLastAttempt: false,
    scoringIn: (own) => ({ ask, project_id, callId: own.id ?? '', traceId: base, signal }),
    toFeedback: (_trial, { callId, output, predictionId }) =>
      scoreFeedback({
        id: newId(),
        project_id,
        callId,
        scoredId: predictionId,
        scorer,
        output,
      }),
    predict: async () => 'predicted',
    ...deps,
  }
}

const trial = { digest: 'row', row: { user_input: 'x' }, seed: 'row/0' }

describe('a row of an evaluation', () => {
  it('has the feedback of all results of a scorer', async () => {
    const deps = depsOf(async () => ['yes', 'no'])
    const [scorer] = deps.evaluation.scorers
    if (scorer === undefined) throw new Error('There is no scorer')
    const refs = [ref('object', 'rude'), ref('object', 'late')]
    scorer.results = (output) => refs.map((one, index) => ({ ref: one, output: (output as string[])[index] }))
    const feedback = await evaluateRow(deps, trial)
    expect(feedback.map(({ runnable_ref }) => runnable_ref)).toEqual(refs)
    expect(new Set(feedback.map(({ id }) => id)).size).toBe(2)
  })

  it('shows scorers the call of the prediction', async () => {
    const seen: Scored[] = []
    const deps = depsOf(async (scored) => void seen.push(scored))
    await evaluateRow(deps, trial)
    const [, prediction] = deps.calls.parts
    expect(prediction?.op_name).toBe(ref('op', 'LLMStructuredCompletionModel.predict'))
    expect(seen).toMatchObject([
      { call: { id: prediction?.id, op_name: prediction?.op_name, trace_id: prediction?.trace_id } },
    ])
  })

  const fails = (error: Error) => () => Promise.reject(error)
  const exceptionsOf = ({ calls }: RowDeps): unknown[] =>
    calls.parts.flatMap(({ exception }) => exception ?? [])

  it.each([
    ['the model', (error: Error) => depsOf(async () => 1, { predict: fails(error) })],
    ['a scorer', (error: Error) => depsOf(fails(error))],
  ])('waits for another attempt where %s cannot answer now, up to the last one', async (_, depsWith) => {
    const [busy, away] = [unavailable('busy'), new StoreFailed('away', undefined)]
    await expect(evaluateRow(depsWith(busy), trial)).rejects.toBe(busy)
    const last = { ...depsWith(busy), isLastAttempt: true }
    expect(await evaluateRow(last, trial)).toEqual([])
    expect(exceptionsOf(last)).toContain('busy')
    await expect(evaluateRow({ ...depsWith(away), isLastAttempt: true }, trial)).rejects.toBe(away)
    for (const error of [invalidRequest('no'), new BadAnswer('no'), new NoAnswer('no'), new Error('no')]) {
      const deps = depsWith(error)
      expect(await evaluateRow(deps, trial)).toEqual([])
      expect(exceptionsOf(deps)).toContain('no')
    }
  })

  it('waits also where another scorer has failed for good', async () => {
    const busy = unavailable('busy')
    const deps = depsOf(fails(invalidRequest('no')))
    const [scorer] = depsOf(fails(busy)).evaluation.scorers
    const scorers = [...deps.evaluation.scorers, ...(scorer ? [scorer] : [])]
    const evaluation = { ...deps.evaluation, scorers }
    await expect(evaluateRow({ ...deps, evaluation }, trial)).rejects.toBe(busy)
  })
})
