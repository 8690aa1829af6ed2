import { notFound, tooLarge } from '../errors.ts'
import type { CallContext } from '../http/caller.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import type { TraceDb } from '../stores/trace-db/port.ts'
import type { AnnotationQueues } from '../trace/annotation-queues/service.ts'
import { inBatches } from '../trace/batches.ts'
import type { Calls } from '../trace/calls/service.ts'
import type { Refs } from '../trace/refs/service.ts'
import type { Candidate } from './candidate.ts'
import { candidatesOf, type FoundCall, payloadChars } from './found-calls.ts'
import type { Tally } from './left-out.ts'
import { createPredictions } from './predictions.ts'
import * as queries from './queries.ts'
import { CALLS_MAX, type From } from './wire.ts'

/**
 * Bytes of calls in memory beside the rows they become, or one larger call; a list in a filter has at most 1,000 ids.
 */
const PER_BATCH = { count: 500, bytes: 16 * 1024 * 1024 }

export interface SourcesDeps {
  control: ControlDb
  traces: TraceDb
  calls: Calls
  refs: Pick<Refs, 'resolve'>
  annotationQueues: Pick<AnnotationQueues, 'isLive'>
}

/** Where calls are collected from. */
export interface Source {
  projectId: string
  from: From
  /** Counts calls that no longer exist. */
  tally: Tally
  context: CallContext
}

/** Reads the calls that may become rows, a batch at a time and always in the same order. */
export interface Sources {
  candidates(source: Source): AsyncGenerator<Candidate[]>
}

export function createSources(deps: SourcesDeps): Sources {
  const { control, calls, refs, annotationQueues } = deps
  const predictions = createPredictions(deps)

  async function* selected(
    selection: Parameters<Calls['list']>[0],
    context: CallContext,
  ): AsyncGenerator<FoundCall[]> {
    let batch: FoundCall[] = []
    let bytes = 0
    let count = 0
    for await (const call of await calls.list(selection, context)) {
      if (++count > CALLS_MAX) throw tooLarge(`More than ${CALLS_MAX} calls: say limit, or filter more`)
      batch.push({ call })
      bytes += payloadChars(call)
      if (batch.length < PER_BATCH.count && bytes < PER_BATCH.bytes) continue
      yield batch
      batch = []
      bytes = 0
    }
    yield batch
  }

  async function* completed(
    { projectId: project_id, tally, context }: Source,
    { queue_id, annotator }: { queue_id: string; annotator?: string | null | undefined },
  ): AsyncGenerator<FoundCall[]> {
    if (!(await annotationQueues.isLive({ project_id, queue_id })))
      throw notFound('Annotation queue', queue_id.slice(0, 64))
    const wanted = { queue_id, annotator: annotator ?? undefined, limit: CALLS_MAX + 1 }
    const ids = await queries.completedCalls(control, wanted)
    if (ids.length > CALLS_MAX) throw tooLarge(`More than ${CALLS_MAX} completed items: name an annotator`)
    for (const call_ids of inBatches(ids, PER_BATCH, () => ({ count: 1, bytes: 0 }))) {
      const missing = new Set(call_ids)
      for await (const batch of selected({ project_id, filter: { call_ids } }, context)) {
        for (const { call } of batch) missing.delete(call.id)
        yield batch
      }
      for (const id of missing) tally.add('was deleted', id)
    }
  }

  function found(source: Source): AsyncGenerator<FoundCall[]> {
    const { from, projectId, tally, context } = source
    if ('calls' in from) {
      const limit = from.calls.limit ?? CALLS_MAX + 1
      return selected({ project_id: projectId, ...from.calls, limit }, context)
    }
    if ('annotation_queue' in from) return completed(source, from.annotation_queue)
    const ids = [...new Set(from.eval_results.evaluation_call_ids)]
    return predictions.of({ projectId, ids, tally, context }, PER_BATCH)
  }

  async function* candidates(source: Source): AsyncGenerator<Candidate[]> {
    for await (const batch of found(source)) yield* candidatesOf(refs, source.projectId, batch)
  }

  return { candidates }
}
