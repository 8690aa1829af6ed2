import type { CallContext } from '../../http/caller.ts'
import { JsonNumber, JsonText, stringify } from '../../json/lossless-json.ts'
import { microsOf, nowIso } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { type CallPart, endPart } from '../../trace/calls/write/parts.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import { refOf } from '../../trace/ref-uri.ts'
import { type EvaluationCalls, floatText, isPredictAndScore, markOf } from './evaluation-calls.ts'
import { marked } from './marked-lists.ts'
import { PREDICTION } from './predictions.ts'
import type * as wire from './wire.ts'

const EMPTY = new JsonText('{}')

/** The end of a prediction. */
export interface PredictionFinisher {
  /**
   * Ends the prediction with its scores; repeated, it includes scores that were added since, and keeps the end time.
   */
  finish(req: wire.PredictionPath, context: CallContext): Promise<wire.Success>
  /**
   * Corrects the scores of a prediction that has been finished, leaving out those that are about to be deleted; does
   * nothing for any other call.
   */
  correct(
    req: { project_id: string; prediction_id: string; without: ReadonlySet<string> },
    context: CallContext,
  ): Promise<void>
}

export function createPredictionFinisher({
  calls,
  found,
}: {
  calls: Calls
  found: EvaluationCalls
}): PredictionFinisher {
  /** Wire: the scores of a prediction are its siblings; of several by one scorer the last counts. */
  async function scoresBeside(
    { project_id, id }: Call,
    without: ReadonlySet<string>,
    context: CallContext,
  ): Promise<Record<string, JsonText>> {
    const filter = { parent_ids: [id] }
    const columns = ['output', 'attributes']
    const query = { $expr: marked('score') }
    const scores = new Map<string, JsonText>()
    for await (const score of await calls.list({ project_id, filter, query, columns }, context)) {
      if (without.has(score.id)) continue
      const scorer = refOf(markOf(score, 'scorer') ?? '')?.name ?? 'unknown'
      if (score.output !== null) scores.set(scorer, score.output)
    }
    return Object.fromEntries(scores)
  }

  async function endOfParent(
    {
      prediction,
      parent,
      now,
      without = new Set(),
    }: { prediction: Call; parent: Call; now: string; without?: ReadonlySet<string> },
    context: CallContext,
  ): Promise<CallPart> {
    const { project_id, id } = parent
    const scores = await scoresBeside(parent, without, context)
    const output = { output: prediction.output, scores, model_latency: latencyOf(prediction, now) }
    const end = { project_id, id, ended_at: parent.ended_at ?? now, summary: EMPTY }
    return endPart({ ...end, output: new JsonText(stringify(output)) }, [])
  }

  /** The call in a run that a prediction and its scores are below. */
  async function parentOf({ project_id, parent_id }: Call, context: CallContext): Promise<Call | undefined> {
    if (parent_id === null) return undefined
    const { call } = await calls.read({ project_id, id: parent_id }, context)
    return call != null && isPredictAndScore(call) ? call : undefined
  }

  async function finish(req: wire.PredictionPath, context: CallContext) {
    const project_id = projectIdOf(req)
    const prediction = await found.find({ project_id, id: req.prediction_id }, PREDICTION, context)
    const now = nowIso()
    // The output of the prediction is repeated: an end without one would remove it for later readers.
    const parts: CallPart[] =
      prediction.ended_at === null
        ? [endPart({ project_id, id: prediction.id, ended_at: now, summary: EMPTY }, [])]
        : []
    const parent = await parentOf(prediction, context)
    if (parent) parts.push(await endOfParent({ prediction, parent, now }, context))
    if (parts.length > 0) await calls.writeParts(parts)
    return { success: true }
  }

  async function correct(
    {
      project_id,
      prediction_id,
      without,
    }: { project_id: string; prediction_id: string; without: ReadonlySet<string> },
    context: CallContext,
  ): Promise<void> {
    const { call: prediction } = await calls.read({ project_id, id: prediction_id }, context)
    if (prediction == null || !PREDICTION.is(prediction)) return
    const parent = await parentOf(prediction, context)
    if (parent === undefined || parent.ended_at === null) return
    await calls.writeParts([await endOfParent({ prediction, parent, now: nowIso(), without }, context)])
  }

  return { finish, correct }
}

function latencyOf({ started_at, ended_at }: Call, now: string): { mean: JsonNumber } {
  const seconds = (microsOf(ended_at ?? now) - microsOf(started_at)) / 1e6
  return { mean: new JsonNumber(floatText(seconds)) }
}
