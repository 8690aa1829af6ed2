import type { Calls } from '../calls/service.ts'
import type { Feedback } from '../feedback/service.ts'
import type { Files } from '../files/service.ts'
import type { Objects } from '../objects/service.ts'
import { createEvaluationCalls } from './evaluation-calls.ts'
import { createEvaluationOps } from './evaluation-ops.ts'
import { createMarkedLists } from './marked-lists.ts'
import { createPredictionFinishing } from './prediction-finishing.ts'
import { createPredictions } from './predictions.ts'
import { createRunFinishing } from './run-finishing.ts'
import { createRuns } from './runs.ts'
import { createScores } from './scores.ts'

export type EvaluationRuns = ReturnType<typeof createEvaluationRuns>

/**
 * Evaluations that clients log step by step, stored as the same calls, ops and feedback as evaluations that they run.
 */
export function createEvaluationRuns(services: {
  calls: Calls
  feedback: Feedback
  objects: Objects
  files: Files
}) {
  const deps = {
    ...services,
    found: createEvaluationCalls(services),
    ops: createEvaluationOps(services),
    lists: createMarkedLists(services),
  }
  return {
    runs: { ...createRuns(deps), ...createRunFinishing(deps) },
    predictions: { ...createPredictions(deps), ...createPredictionFinishing(deps) },
    scores: createScores(deps),
  }
}
