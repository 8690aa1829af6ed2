import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { opShortName } from '../../trace/calls/sql/derived.ts'
import { startPart } from '../../trace/calls/write/parts.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import type { Operation } from '../../trace/query-language/wire.ts'
import type { DeleteRes } from '../../trace/typed-objects/wire.ts'
import { EVALUATE, type EvaluationCalls, type Kind, markOf, opNames, textAt } from './evaluation-calls.ts'
import type { EvaluationOps } from './evaluation-ops.ts'
import type * as wire from './wire.ts'

/** Wire: evaluations run by clients carry no mark but their op. */
export const RUN: Kind = { name: 'Evaluation run', is: (call) => opShortName(call.op_name) === EVALUATE }

export interface RunsDeps {
  calls: Calls
  found: EvaluationCalls
  ops: EvaluationOps
}

/** Runs of evaluations: a call each, under which its predictions and scores are. */
export interface Runs {
  create(req: wire.RunCreateReq, context: CallContext): Promise<wire.RunCreateRes>
  list(req: wire.RunListReq, context: CallContext): Promise<AsyncIterable<wire.EvaluationRun>>
  read(req: wire.RunPath, context: CallContext): Promise<wire.EvaluationRun>
  delete(req: wire.RunDeleteReq, context: CallContext): Promise<DeleteRes>
}

export function createRuns(deps: RunsDeps): Runs {
  const { calls, found, ops } = deps

  async function create(req: wire.RunCreateReq, { caller }: CallContext) {
    const project_id = projectIdOf(req)
    const { evaluation, model, source_evaluation_run_id } = req
    const id = newId()
    const marks = {
      evaluation_run: 'true',
      evaluation,
      model,
      source_evaluation_run_id: source_evaluation_run_id ?? undefined,
    }
    const part = startPart(
      {
        project_id,
        id,
        trace_id: id,
        op_name: ops.refOf(project_id, EVALUATE),
        started_at: nowIso(),
        attributes: new JsonText(stringify({ weave: marks })),
        inputs: new JsonText(stringify({ self: evaluation, model })),
      },
      caller.user,
      [],
    )
    await ops.publish(project_id, [EVALUATE], caller.user)
    await calls.writeParts([part])
    return { evaluation_run_id: id }
  }

  async function list(
    req: wire.RunListReq,
    context: CallContext,
  ): Promise<AsyncIterable<wire.EvaluationRun>> {
    const project_id = projectIdOf(req)
    const { limit, offset, evaluation_run_ids: call_ids } = req
    const [evaluations, models] = [refsIn(req.evaluations), refsIn(req.models)]
    if (evaluations?.length === 0 || models?.length === 0) return shown([])
    const conditions = [
      ...(evaluations ? [{ $or: [isIn('inputs.self', evaluations), isIn('inputs.this', evaluations)] }] : []),
      ...(models ? [isIn('inputs.model', models)] : []),
    ]
    const query = conditions.length === 0 ? undefined : { $expr: { $and: conditions } }
    const filter = { op_names: opNames(project_id, [EVALUATE]), call_ids }
    return shown(await calls.list({ project_id, filter, query, limit, offset }, context))
  }

  async function read(req: wire.RunPath, context: CallContext): Promise<wire.EvaluationRun> {
    const named = { project_id: projectIdOf(req), id: req.evaluation_run_id }
    return runOf(await found.find(named, RUN, context))
  }

  async function remove(req: wire.RunDeleteReq, context: CallContext) {
    const named = { project_id: projectIdOf(req), ids: req.evaluation_run_ids }
    const num_deleted = await found.delete(named, RUN, context)
    return { num_deleted }
  }

  return { create, list, read, delete: remove }
}

/** The requested value; an empty text counts as a missing field. */
function refsIn(names: readonly string[] | undefined): string[] | undefined {
  return names?.filter((name) => name !== '')
}

function isIn(field: string, values: readonly string[]): Operation {
  return { $in: [{ $getField: field }, values.map((value) => ({ $literal: value }))] }
}

async function* shown(runs: AsyncIterable<Call> | readonly Call[]): AsyncGenerator<wire.EvaluationRun> {
  for await (const run of runs) yield runOf(run)
}

function runOf(call: Call): wire.EvaluationRun {
  const { inputs } = call
  return {
    evaluation_run_id: call.id,
    evaluation: markOf(call, 'evaluation') ?? textAt(inputs, 'self') ?? textAt(inputs, 'this') ?? '',
    model: markOf(call, 'model') ?? textAt(inputs, 'model') ?? '',
    status: call.ended_at === null ? 'running' : call.exception ? 'failed' : 'completed',
    started_at: call.started_at,
    finished_at: call.ended_at,
    summary: call.summary,
    source_evaluation_run_id: markOf(call, 'source_evaluation_run_id') ?? null,
  }
}
