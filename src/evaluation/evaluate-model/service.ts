import { placeOf } from '../../access.ts'
import type { WorkLimits } from '../../accounts/limits/work-limits.ts'
import { conflict, invalidRequest, notFound, tooManyRequests } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { isoIn, nowIso } from '../../time.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { opShortName } from '../../trace/calls/sql/derived.ts'
import { startPart } from '../../trace/calls/write/parts.ts'
import type { Query } from '../../trace/query-language/wire.ts'
import { principalOf } from '../background-context.ts'
import { EVALUATE } from '../evaluation-runs/evaluation-calls.ts'
import { WRITE_MS_MAX } from '../write-ms-max.ts'
import { defineEvaluationJobs, type EvaluationJobsDeps } from './evaluation-jobs.ts'
import { loadEvaluation, rowsOfEvaluation } from './load-evaluation.ts'
import type * as wire from './wire.ts'

/** Evaluations of an entity that run or wait. */
const OPEN_MAX = 1000

/** Evaluations that run on the server, and continue after a restart. */
export interface EvaluateModel {
  /** Resolves when the evaluation is stored. @throws as {@link loadEvaluation}, and 429 for too many. */
  evaluate(req: wire.EvaluateModelReq, context: CallContext): Promise<wire.EvaluateModelRes>
  /** Of any evaluation, wherever it runs. */
  status(req: wire.EvaluationCallReq, context: CallContext): Promise<wire.EvaluationStatusRes>
  /** Ends an evaluation that runs here; results of rows stay. */
  cancel(req: wire.EvaluationCallReq, context: CallContext): Promise<wire.Empty>
}

export function createEvaluateModel(
  deps: EvaluationJobsDeps & {
    control: ControlDb
    calls: Pick<Calls, 'queryStats'>
    workLimits: WorkLimits
  },
): EvaluateModel {
  const { calls, control, ops, workLimits } = deps
  const jobs = defineEvaluationJobs(deps)

  /** @throws 400 for a call that is not an evaluation. */
  async function readEvaluation({ project_id, call_id }: wire.EvaluationCallReq, context: CallContext) {
    const { call } = await calls.read({ project_id, id: call_id }, context)
    if (call != null && !opShortName(call.op_name).includes(EVALUATE))
      throw invalidRequest(`Call ${call_id} is not an evaluation`)
    return call ?? undefined
  }

  async function evaluate(req: wire.EvaluateModelReq, context: CallContext) {
    const { project_id } = req
    const { evaluationRef, modelRef, displayName } = await loadEvaluation(deps, req)
    const { entity } = placeOf(project_id)
    if ((await jobs.countOpenBy('entity', entity)) >= OPEN_MAX)
      throw tooManyRequests(`${OPEN_MAX} evaluations of ${entity} are waiting already`, 60)
    const call_id = newId()
    const start = {
      project_id,
      id: call_id,
      trace_id: call_id,
      op_name: ops.refOf(project_id, EVALUATE),
      display_name: displayName,
      started_at: nowIso(),
      attributes: new JsonText(stringify({ _weave_eval_meta: { evaluate_model_worker: true } })),
      inputs: new JsonText(stringify({ self: evaluationRef, model: modelRef })),
    }
    const part = startPart(start, context.caller.user, [])
    const payload = {
      project_id,
      evaluation_ref: evaluationRef,
      model_ref: modelRef,
      ...principalOf(context),
    }
    // The job becomes due once its call is written, or much later if the server ends in between. One that is due before
    // its call is written is dropped, and the call would run forever.
    const due = isoIn(WRITE_MS_MAX)
    const keyId = payload.key_id
    await control.transaction().execute(async (tx) => {
      await workLimits.check(tx, { kind: 'evaluations', entity, keyId, countOpenBy: jobs.countOpenBy })
      await jobs.addIn(tx, [{ id: call_id, payload, entity, keyId, runAt: due }])
    })
    await calls.writeParts([part])
    await jobs.makeDue(call_id)
    return { call_id }
  }

  async function status(
    req: wire.EvaluationCallReq,
    context: CallContext,
  ): Promise<wire.EvaluationStatusRes> {
    const call = await readEvaluation(req, context)
    if (call === undefined) return { status: { code: 'not_found' } }
    if (call.exception) return { status: { code: 'failed', error: call.exception } }
    if (call.ended_at !== null)
      return { status: { code: 'complete', output: call.output ?? new JsonText('{}') } }
    const { project_id } = req
    const filter = { parent_ids: [call.id] }
    const { count } = await calls.queryStats({ project_id, filter, query: NOT_RUNNING }, context)
    const total = await rowsOfEvaluation(deps, { project_id, inputs: call.inputs })
    return { status: { code: 'running', completed_rows: count, total_rows: Math.max(total, count) } }
  }

  async function cancel(req: wire.EvaluationCallReq, context: CallContext) {
    const call = await readEvaluation(req, context)
    if (call === undefined) throw notFound('Evaluation', req.call_id)
    if (call.ended_at !== null) return {}
    // Clients choose the ids of calls, and a call of another project may have the same one.
    const job = (await jobs.payloadsOf([call.id])).get(call.id)
    const isHere = job?.project_id === call.project_id
    if (!isHere || !(await jobs.cancel(call.id, 'The evaluation was cancelled')))
      throw conflict(`Evaluation ${call.id} is run by a client, not here`)
    return {}
  }

  return { evaluate, status, cancel }
}

const NOT_RUNNING = {
  $expr: { $not: [{ $eq: [{ $getField: 'summary.weave.status' }, { $literal: 'running' }] }] },
} satisfies Query
