import type { CallContext } from '../../http/caller.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import type { Operation } from '../../trace/query-language/wire.ts'
import type { DeleteRes } from '../../trace/typed-objects/wire.ts'
import { type EvaluationCalls, isPredictAndScore, markOf } from './evaluation-calls.ts'
import { marked } from './marked-lists.ts'
import type { PredictionFinisher } from './prediction-finisher.ts'
import { PREDICTION } from './predictions.ts'
import { SCORE } from './scores.ts'
import type * as wire from './wire.ts'

/** Deletes predictions and scores, so that results no longer count them. */
export interface Deletions {
  /** With the scores of each, and the call in a run that it is below. Wire: those are not counted. */
  predictions(req: wire.PredictionDeleteReq, context: CallContext): Promise<DeleteRes>
  /** Predictions that have been finished lose these scores. */
  scores(req: wire.ScoreDeleteReq, context: CallContext): Promise<DeleteRes>
}

export function createDeletions(deps: {
  calls: Calls
  feedback: Feedback
  found: EvaluationCalls
  finisher: PredictionFinisher
}): Deletions {
  const { calls, feedback, found, finisher } = deps

  async function scoresOf(project_id: string, predictions: readonly Call[], context: CallContext) {
    const ids = predictions.map(({ id }) => ({ $literal: id }))
    const ofThese: Operation = { $in: [{ $getField: 'attributes.weave.prediction_id' }, ids] }
    const query = { $expr: { $and: [marked('score'), ofThese] } }
    return Array.fromAsync(await calls.ids({ project_id, query }, context))
  }

  /** Only calls that were made for these predictions: a client may have other calls below its own. */
  async function parentsOf(project_id: string, predictions: readonly Call[], context: CallContext) {
    const call_ids = predictions.flatMap(({ parent_id }) => parent_id ?? [])
    if (call_ids.length === 0) return []
    const own = new Set(predictions.map(({ id }) => id))
    const parents: string[] = []
    const asked = { project_id, filter: { call_ids }, columns: ['attributes'] }
    for await (const parent of await calls.list(asked, context))
      if (isPredictAndScore(parent) && own.has(markOf(parent, 'predict_call_id') ?? ''))
        parents.push(parent.id)
    return parents
  }

  /** The feedback of a score has the score's id. */
  async function purgeFeedback(project_id: string, scores: readonly string[]): Promise<void> {
    const $or = scores.map((id): Operation => ({ $eq: [{ $getField: 'id' }, { $literal: id }] }))
    if (scores.length > 0) await feedback.purge({ project_id, query: { $expr: { $or } } })
  }

  async function predictions(req: wire.PredictionDeleteReq, context: CallContext): Promise<DeleteRes> {
    const project_id = projectIdOf(req)
    const named = { project_id, ids: req.prediction_ids }
    const num_deleted = await found.delete(named, PREDICTION, context, async (doomed) => {
      if (doomed.length === 0) return []
      const scoreIds = await scoresOf(project_id, doomed, context)
      await purgeFeedback(project_id, scoreIds)
      return [...(await parentsOf(project_id, doomed, context)), ...scoreIds]
    })
    return { num_deleted }
  }

  async function scores(req: wire.ScoreDeleteReq, context: CallContext): Promise<DeleteRes> {
    const project_id = projectIdOf(req)
    const named = { project_id, ids: req.score_ids }
    const num_deleted = await found.delete(named, SCORE, context, async (doomed) => {
      const ids = doomed.map(({ id }) => id)
      await purgeFeedback(project_id, ids)
      // A score outside of a run was never among those of a finished prediction.
      const inRuns = doomed.filter(({ parent_id }) => parent_id !== null)
      const scored = new Set(inRuns.flatMap((score) => markOf(score, 'prediction_id') ?? []))
      const without = new Set(ids)
      for (const prediction_id of scored)
        await finisher.correct({ project_id, prediction_id, without }, context)
      return []
    })
    return { num_deleted }
  }

  return { predictions, scores }
}
