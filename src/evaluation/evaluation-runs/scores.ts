import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { JsonText, memberText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { endPart, startPart } from '../../trace/calls/write/parts.ts'
import type { Feedback } from '../../trace/feedback/service.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import { callRef, parseRef } from '../../trace/ref-uri.ts'
import { type EvaluationCalls, floatText, type Kind, markOf, marksOf } from './evaluation-calls.ts'
import { type EvaluationOps, methodName } from './evaluation-ops.ts'
import type { MarkedLists } from './marked-lists.ts'
import { RUN } from './runs.ts'
import type * as wire from './wire.ts'

export const SCORE: Kind = { name: 'Score', is: (call) => markOf(call, 'score') === 'true' }

/** Any call can be scored, not only logged predictions. */
const SCORED: Kind = { name: 'Prediction', is: () => true }

/** Scores of predictions: a call each, and feedback on the prediction. */
export interface Scores {
  create(req: wire.ScoreCreateReq, context: CallContext): Promise<wire.ScoreCreateRes>
  list(req: wire.ListOfRunReq, context: CallContext): Promise<AsyncIterable<wire.Score>>
  read(req: wire.ScorePath, context: CallContext): Promise<wire.Score>
}

export function createScores(deps: {
  calls: Calls
  feedback: Feedback
  found: EvaluationCalls
  ops: EvaluationOps
  lists: MarkedLists
}): Scores {
  const { calls, feedback, found, ops, lists } = deps

  /** @throws 404 for a run that does not exist, 400 for one that the prediction does not belong to. */
  async function runOf(req: wire.ScoreCreateReq, prediction: Call, context: CallContext) {
    if (req.evaluation_run_id == null) return undefined
    const named = { project_id: projectIdOf(req), id: req.evaluation_run_id }
    const run = await found.find(named, RUN, context)
    const ownRun = markOf(prediction, 'evaluation_run_id')
    if (ownRun !== undefined && ownRun !== run.id)
      throw invalidRequest(`Prediction ${prediction.id} is not of evaluation run ${run.id}`)
    return run
  }

  async function create(req: wire.ScoreCreateReq, context: CallContext) {
    const project_id = projectIdOf(req)
    const { user } = context.caller
    const scorerName = scorerIn(req.scorer)
    const prediction = await found.find({ project_id, id: req.prediction_id }, SCORED, context)
    const run = await runOf(req, prediction, context)
    const id = newId()
    const at = nowIso()
    const opName = methodName(scorerName, 'score')
    const parts = scoreParts(req, { id, at, prediction, run, opName: ops.refOf(project_id, opName) }, user)
    await ops.publish(project_id, [opName], user)
    await calls.writeParts(parts)
    const feedbackOfScore = {
      // The id of the call as well: deleting a score deletes its feedback.
      id,
      project_id,
      weave_ref: callRef(project_id, prediction.id),
      feedback_type: `wandb.runnable.${scorerName}`,
      payload: new JsonText(`{"output":${floatText(req.value)}}`),
      runnable_ref: req.scorer,
      call_ref: callRef(project_id, id),
    }
    await feedback.record([feedbackOfScore], user)
    return { score_id: id }
  }

  async function list(req: wire.ListOfRunReq, context: CallContext): Promise<AsyncIterable<wire.Score>> {
    return shown(await lists.list(req, 'score', context))
  }

  async function read(req: wire.ScorePath, context: CallContext): Promise<wire.Score> {
    const named = { project_id: projectIdOf(req), id: req.score_id }
    return scoreOf(await found.find(named, SCORE, context))
  }

  return { create, list, read }
}

/** Wire: in a run, a score is a sibling of its prediction. */
function scoreParts(
  req: wire.ScoreCreateReq,
  score: { id: string; at: string; prediction: Call; run: Call | undefined; opName: string },
  user: string,
) {
  const { prediction, run, id, at } = score
  const project_id = projectIdOf(req)
  const inputs = new JsonText(memberText(prediction.inputs.text, 'inputs') ?? '{}')
  const marks = {
    score: 'true',
    prediction_id: prediction.id,
    scorer: req.scorer,
    evaluation_run_id: run?.id,
  }
  const start = {
    project_id,
    id,
    trace_id: run?.trace_id ?? id,
    parent_id: run && (prediction.parent_id ?? run.id),
    op_name: score.opName,
    started_at: at,
    attributes: new JsonText(stringify({ weave: marks })),
    inputs: new JsonText(stringify({ self: req.scorer, inputs, output: prediction.output })),
  }
  const output = new JsonText(floatText(req.value))
  const end = { project_id, id, ended_at: at, output, summary: new JsonText('{}') }
  return [startPart(start, user, []), endPart(end, [])]
}

/** @throws 400 for anything but a ref to a scorer. */
function scorerIn(ref: string): string {
  const { kind, name } = parseRef(ref)
  if (kind !== 'object' && kind !== 'op') throw invalidRequest('scorer must be a ref to an object or an op')
  return name
}

async function* shown(scores: AsyncIterable<Call>): AsyncGenerator<wire.Score> {
  for await (const score of scores) yield scoreOf(score)
}

function scoreOf(call: Call): wire.Score {
  const { scorer, evaluation_run_id } = marksOf(call)
  const value = call.output?.value()
  return {
    score_id: call.id,
    scorer: typeof scorer === 'string' ? scorer : '',
    value: typeof value === 'number' ? value : 0,
    evaluation_run_id: typeof evaluation_run_id === 'string' ? evaluation_run_id : null,
    wb_user_id: call.wb_user_id,
  }
}
