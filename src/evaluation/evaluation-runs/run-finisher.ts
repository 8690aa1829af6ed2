import type { CallContext } from '../../http/caller.ts'
import { idOf } from '../../ids.ts'
import { JsonNumber, JsonText, memberText, stringify } from '../../json/lossless-json.ts'
import { nowIso } from '../../time.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import { opShortName } from '../../trace/calls/sql/derived.ts'
import { endPart, startPart } from '../../trace/calls/write/parts.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import { floatText, opNames, PREDICT_AND_SCORE_NAMES, SUMMARIZE } from './evaluation-calls.ts'
import { RUN, type RunsDeps } from './runs.ts'
import type * as wire from './wire.ts'

const EMPTY = new JsonText('{}')

/** The end of a run. */
export interface RunFinisher {
  /** Aggregates the run's predictions. Repeated, it aggregates again and keeps the run's end time. */
  finish(req: wire.RunFinishReq, context: CallContext): Promise<wire.Success>
}

export function createRunFinisher({ calls, found, ops }: RunsDeps): RunFinisher {
  /** Outputs of the children of a run, one after the other: they are never in memory together. */
  async function readChildren(project_id: string, run: Call, context: CallContext) {
    const names = opNames(project_id, [...PREDICT_AND_SCORE_NAMES, SUMMARIZE])
    const filter = { parent_ids: [run.id], op_names: names }
    const means = createMeans()
    let summarizeId: string | undefined
    for await (const call of await calls.list({ project_id, filter, columns: ['output'] }, context)) {
      if (opShortName(call.op_name) === SUMMARIZE) summarizeId = call.id
      else means.add(call.output)
    }
    return { output: means.text(), summarizeId }
  }

  async function finish(req: wire.RunFinishReq, context: CallContext) {
    const project_id = projectIdOf(req)
    const run = await found.find({ project_id, id: req.evaluation_run_id }, RUN, context)
    const { output, summarizeId } = await readChildren(project_id, run, context)
    const started_at = nowIso()
    const end = { project_id, ended_at: run.ended_at ?? nowIso(), output }
    // Two requests at once write the same call.
    const id = summarizeId ?? idOf(`${run.id}/${SUMMARIZE}`, Date.parse(run.started_at))
    const start = {
      project_id,
      id,
      trace_id: run.trace_id,
      parent_id: run.id,
      op_name: ops.refOf(project_id, SUMMARIZE),
      started_at,
      attributes: EMPTY,
      inputs: new JsonText(`{"self":${memberText(run.inputs.text, 'self') ?? 'null'}}`),
    }
    await ops.publish(project_id, [SUMMARIZE], context.caller.user)
    await calls.writeParts([
      ...(summarizeId === undefined ? [startPart(start, context.caller.user, [])] : []),
      endPart({ ...end, id, summary: EMPTY }, []),
      endPart({ ...end, id: run.id, summary: req.summary ?? EMPTY }, []),
    ])
    return { success: true }
  }

  return { finish }
}

/** Means of the numbers that predictions and scorers gave. */
interface Means {
  add(output: JsonText | null): void
  text(): JsonText
}

function createMeans(): Means {
  const scores = new Map<string, Mean>()
  const outputs: Mean = { sum: 0, count: 0 }

  function add(output: JsonText | null): void {
    const value: unknown = output?.text.startsWith('{') ? output.value() : null
    if (typeof value !== 'object' || value === null) return
    addTo(outputs, 'output' in value ? value.output : undefined)
    const given = 'scores' in value && typeof value.scores === 'object' ? (value.scores ?? {}) : {}
    for (const [scorer, score] of Object.entries(given)) {
      const mean = scores.get(scorer) ?? { sum: 0, count: 0 }
      addTo(mean, score)
      scores.set(scorer, mean)
    }
  }

  function text(): JsonText {
    // Wire: the outputs' mean is beside those of the scorers, one of which may have its name.
    const means = scores.has('output') ? [...scores] : [...scores, ['output', outputs] as const]
    const entries = means
      .filter(([, { count }]) => count > 0)
      .map(([name, mean]) => [name, { mean: meanOf(mean) }])
    return new JsonText(stringify(Object.fromEntries(entries)))
  }

  return { add, text }
}

interface Mean {
  sum: number
  count: number
}

function addTo(mean: Mean, value: unknown): void {
  if (typeof value !== 'number') return
  mean.sum += value
  mean.count++
}

function meanOf({ sum, count }: Mean): JsonNumber {
  return new JsonNumber(floatText(sum / count))
}
