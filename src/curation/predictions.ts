import { invalidRequest, notFound, tooLarge } from '../errors.ts'
import { sortTrials } from '../evaluation/eval-results/sorted-trials.ts'
import { createTrialReading, type ReadTrial } from '../evaluation/eval-results/trials.ts'
import { EVALUATE, opNames, PREDICT_AND_SCORE_NAMES } from '../evaluation/evaluation-runs/evaluation-calls.ts'
import type { CallContext } from '../http/caller.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import { inBatches, inHalves, type Size } from '../trace/batches.ts'
import type { Calls } from '../trace/calls/service.ts'
import { opShortName } from '../trace/calls/sql/derived.ts'
import { collectReply } from '../trace/collect-reply.ts'
import { type FoundCall, payloadChars } from './found-calls.ts'
import type { Tally } from './left-out.ts'
import { CALLS_MAX } from './wire.ts'

interface Evaluations {
  projectId: string
  ids: readonly string[]
  /** Counts predictions that are deleted before they are read. */
  tally: Tally
  context: CallContext
}

/** Reads the predictions of evaluations, whatever client made them, a batch at a time. */
export interface Predictions {
  /** @throws 404 and 400 for calls that are not evaluations, 413 for too many predictions. */
  of(evaluations: Evaluations, perBatch: Size): AsyncGenerator<FoundCall[]>
}

export function createPredictions(deps: { traces: TraceDb; calls: Calls }): Predictions {
  const { traces, calls } = deps
  const reading = createTrialReading(deps)

  /** @throws 404 and 400 for calls that are not evaluations. */
  async function check({ projectId: project_id, ids, context }: Evaluations): Promise<void> {
    const missing = new Set(ids)
    const named = { project_id, filter: { call_ids: [...ids] }, columns: ['id'] }
    for await (const { id, op_name } of await calls.list(named, context)) {
      if (opShortName(op_name) !== EVALUATE) throw invalidRequest(`Call ${id} is not an evaluation`)
      missing.delete(id)
    }
    const [first] = missing
    if (first !== undefined) throw notFound('Evaluation', first.slice(0, 64))
  }

  async function read(
    ids: readonly string[],
    { projectId, tally, context }: Evaluations,
  ): Promise<FoundCall[]> {
    const trials = await reading.read(ids, {
      projectId,
      context,
      children: true,
      examples: true,
      errors: false,
    })
    const byCall = new Map(ids.flatMap((id) => trials.get(id) ?? []).map((trial) => [callIdOf(trial), trial]))
    const filter = { call_ids: [...byCall.keys()] }
    // Wire: an empty list in a filter is no condition.
    if (filter.call_ids.length === 0) return []
    const list = await collectReply(
      await calls.list({ project_id: projectId, filter }, context),
      payloadChars,
    )
    const found = new Map(list.map((call) => [call.id, call]))
    return [...byCall].flatMap(([id, trial]) => {
      const call = found.get(id)
      if (call !== undefined) return [{ call, trial }]
      tally.add('was deleted', id)
      return []
    })
  }

  async function* of(evaluations: Evaluations, perBatch: Size): AsyncGenerator<FoundCall[]> {
    const { projectId, ids, context } = evaluations
    await check(evaluations)
    const filter = { parent_ids: [...ids], op_names: opNames(projectId, PREDICT_AND_SCORE_NAMES) }
    const sorted = await sortTrials(traces, { project_id: projectId, filter }, context.signal)
    const places = sorted.flatMap(({ trials }) => trials)
    if (places.length > CALLS_MAX)
      throw tooLarge(`More than ${CALLS_MAX} predictions: name fewer evaluations`)
    for (const batch of inBatches(places, perBatch, ({ bytes }) => ({ bytes, count: 1 }))) {
      const ids = batch.map(({ id }) => id)
      // The model's calls may be far larger than the trials, whose sizes are known.
      yield* inHalves(ids, (some) => read(some, evaluations))
    }
  }

  return { of }
}

/** The model's call; where there is none, the call that also scored it. */
function callIdOf({ trial }: ReadTrial): string {
  return trial.predict_call_id ?? trial.predict_and_score_call_id
}
