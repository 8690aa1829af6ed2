import type { Peers } from '../../stores/control-db/peers.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import type { Files } from '../../trace/files/service.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { createDeletions, type Deletions } from './deletions.ts'
import { createEvaluationCalls } from './evaluation-calls.ts'
import { createEvaluationOps } from './evaluation-ops.ts'
import { createMarkedLists } from './marked-lists.ts'
import { createPredictionFinisher, type PredictionFinisher } from './prediction-finisher.ts'
import { createPredictions, type Predictions } from './predictions.ts'
import { createRunFinisher, type RunFinisher } from './run-finisher.ts'
import { createRuns, type Runs } from './runs.ts'
import { createScores, type Scores } from './scores.ts'

/**
 * Evaluations that clients log step by step, stored as the same calls, ops and feedback as evaluations that they run.
 */
export interface EvaluationRuns {
  runs: Runs & RunFinisher
  predictions: Predictions & Pick<PredictionFinisher, 'finish'> & { delete: Deletions['predictions'] }
  scores: Scores & { delete: Deletions['scores'] }
}

export function createEvaluationRuns(services: {
  calls: Calls
  feedback: Feedback
  objects: Objects
  files: Files
  peers: Pick<Peers, 'arePossible'>
}): EvaluationRuns {
  const deps = {
    ...services,
    found: createEvaluationCalls(services),
    ops: createEvaluationOps(services),
    lists: createMarkedLists(services),
  }
  const finisher = createPredictionFinisher(deps)
  const deletions = createDeletions({ ...deps, finisher })
  return {
    runs: { ...createRuns(deps), ...createRunFinisher(deps) },
    predictions: { ...createPredictions(deps), finish: finisher.finish, delete: deletions.predictions },
    scores: { ...createScores(deps), delete: deletions.scores },
  }
}
