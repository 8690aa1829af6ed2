import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { JsonText, memberText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Call, CallStart } from '../../trace/calls/messages/call-wire.ts'
import { type CallPart, endPart, startPart } from '../../trace/calls/write/parts.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import { refOf } from '../../trace/ref-uri.ts'
import { type Kind, markOf, marksOf, PREDICT_AND_SCORE } from './evaluation-calls.ts'
import { methodName } from './evaluation-ops.ts'
import type { MarkedLists } from './marked-lists.ts'
import { RUN, type RunsDeps } from './runs.ts'
import type * as wire from './wire.ts'

export const PREDICTION: Kind = { name: 'Prediction', is: (call) => markOf(call, 'prediction') === 'true' }

const EMPTY = new JsonText('{}')

/** Predictions of models: calls that end at once, in a run or alone. */
export interface Predictions {
  create(req: wire.PredictionCreateReq, context: CallContext): Promise<wire.PredictionCreateRes>
  list(req: wire.ListOfRunReq, context: CallContext): Promise<AsyncIterable<wire.Prediction>>
  read(req: wire.PredictionPath, context: CallContext): Promise<wire.Prediction>
}

export function createPredictions(deps: RunsDeps & { lists: MarkedLists }): Predictions {
  const { calls, found, ops, lists } = deps

  async function create(req: wire.PredictionCreateReq, context: CallContext) {
    const project_id = projectIdOf(req)
    const { model, inputs, output, evaluation_run_id } = req
    const { user } = context.caller
    const run =
      evaluation_run_id == null
        ? undefined
        : await found.find({ project_id, id: evaluation_run_id }, RUN, context)
    const id = newId()
    const parentOp = ops.refOf(project_id, PREDICT_AND_SCORE)
    const parent = run && startPart(parentOf(req, { id, run, op_name: parentOp }), user, [])
    const opName = methodName(nameIn(model), 'predict')
    const marks = {
      prediction: 'true',
      model,
      evaluation_run_id: run?.id,
      genai_span_ref: req.genai_span_ref ?? undefined,
    }
    const at = nowIso()
    const start = {
      project_id,
      id,
      trace_id: run?.trace_id ?? id,
      parent_id: parent?.id,
      op_name: ops.refOf(project_id, opName),
      started_at: at,
      attributes: new JsonText(stringify({ weave: marks })),
      inputs: new JsonText(stringify({ self: model, inputs })),
    }
    const parts: CallPart[] = [
      ...(parent ? [parent] : []),
      startPart(start, user, []),
      endPart({ project_id, id, ended_at: at, output, summary: EMPTY }, []),
    ]
    await ops.publish(project_id, [...(run ? [PREDICT_AND_SCORE] : []), opName], user)
    await calls.writeParts(parts)
    return { prediction_id: id }
  }

  async function list(req: wire.ListOfRunReq, context: CallContext): Promise<AsyncIterable<wire.Prediction>> {
    return shown(await lists.list(req, 'prediction', context))
  }

  async function read(req: wire.PredictionPath, context: CallContext): Promise<wire.Prediction> {
    const named = { project_id: projectIdOf(req), id: req.prediction_id }
    return predictionOf(await found.find(named, PREDICTION, context))
  }

  return { create, list, read }
}

/** Wire: in a run, a prediction and its scores are below a call of their own. */
function parentOf(
  { model, inputs, ...path }: wire.PredictionCreateReq,
  { id, run, op_name }: { id: string; run: Call; op_name: string },
): CallStart {
  const self = new JsonText(memberText(run.inputs.text, 'self') ?? 'null')
  return {
    project_id: projectIdOf(path),
    id: newId(),
    trace_id: run.trace_id,
    parent_id: run.id,
    op_name,
    started_at: nowIso(),
    attributes: new JsonText(stringify({ weave: { predict_call_id: id } })),
    inputs: new JsonText(stringify({ self, model, example: inputs })),
  }
}

/** Wire: a model that is not named by a ref counts as a model. */
function nameIn(model: string): string {
  const ref = refOf(model)
  return ref?.kind === 'object' || ref?.kind === 'op' ? ref.name : 'Model'
}

async function* shown(predictions: AsyncIterable<Call>): AsyncGenerator<wire.Prediction> {
  for await (const prediction of predictions) yield predictionOf(prediction)
}

function predictionOf(call: Call): wire.Prediction {
  const { model, evaluation_run_id } = marksOf(call)
  const inputs = memberText(call.inputs.text, 'inputs')
  return {
    prediction_id: call.id,
    model: typeof model === 'string' ? model : '',
    inputs: inputs?.startsWith('{') ? new JsonText(inputs) : EMPTY,
    output: call.output,
    evaluation_run_id: typeof evaluation_run_id === 'string' ? evaluation_run_id : null,
    wb_user_id: call.wb_user_id,
  }
}
