import { describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
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
    scoringIn: (own) => ({ ask, project_id, callId: own.id ?? '', traceId: base, signal }),
    toFeedback: (_trial, { callId, output, predictionId }) =>
      scoreFeedback({
        id: newId(),
        project_id,
        callId,
        scoredId: predictionId,
        result: { ref: scorer.ref, output },
      }),
    predict: async () => 'predicted',
    ...deps,
  }
}

const trial = { digest: 'row', row: { user_input: 'x' }, seed: 'row/0' }

describe('a row of an evaluation', () => {
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
})
