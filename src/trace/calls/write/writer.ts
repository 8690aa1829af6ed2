import type { Projects } from '../../../accounts/projects.ts'
import { invalidRequest, tooLarge } from '../../../errors.ts'
import type { CallContext } from '../../../http/caller.ts'
import type { Redaction } from '../../../redaction/service.ts'
import { slicesOf } from '../../../slices.ts'
import type { TraceDb } from '../../../stores/trace-db/port.ts'
import { nowIso } from '../../../time.ts'
import { invalidItem } from '../../invalid-item.ts'
import { type ProjectPath, projectIdOf } from '../../project-path-wire.ts'
import type { CallComplete, CallEnd, CallStart } from '../messages/call-wire.ts'
import type {
  CallEndReq,
  CallEndV2Req,
  CallStartReq,
  CallStartV2Req,
  CallsCompleteReq,
  CallsDeleteReq,
  CallUpdateReq,
  CallUpsertBatchReq,
} from '../messages/write-wire.ts'
import type { RecentCalls } from '../recent/recent-calls.ts'
import { withDescendants } from './descendants.ts'
import { type CallPart, callId, checkDisplayName, endPart, joinParts, startPart } from './parts.ts'
import { redactedParts } from './redact-parts.ts'

/** Wire: calls deleted at once are limited to this. */
const DELETE_MAX = 1000

/** Calls that one deletion writes at once. */
const DELETED_AT_ONCE = 10_000

/**
 * Called before ends of clients' calls are written; resolves to a function that is called when they were written, or
 * failed.
 */
export type OnEnded = (ended: readonly { project_id: string; id: string }[]) => Promise<() => void>

/** What names a call that was started. */
interface Started {
  id: string
  trace_id: string
}

/** An item of a batch of starts and ends, and what is answered to it. */
interface Written {
  part: CallPart
  res: Started | Record<string, never>
}

/** All writes of calls: whole, in parts, renamed, deleted. Each may be repeated without harm. */
export interface CallWriter {
  /** @throws 400 and 422 as `startPart`, and batches 422 for both, with the index of the call; likewise the others */
  start(req: CallStartReq, context: CallContext): Promise<Started>
  startV2(req: CallStartV2Req & ProjectPath, context: CallContext): Promise<Started>
  end(req: CallEndReq): Promise<Record<string, never>>
  endV2(req: CallEndV2Req & ProjectPath): Promise<Record<string, never>>
  upsertBatch(
    req: CallUpsertBatchReq,
    context: CallContext,
  ): Promise<{ res: (Started | Record<string, never>)[] }>
  complete(req: CallsCompleteReq & ProjectPath, context: CallContext): Promise<Record<string, never>>
  /** Writes whole calls of a user. */
  record(project_id: string, calls: readonly Omit<CallComplete, 'project_id'>[], user: string): Promise<void>
  /** Writes parts of clients, already checked. */
  acceptParts(parts: readonly CallPart[]): Promise<void>
  /** Writes parts of the server's own calls, which `watchEnds` leaves out: scoring them would make calls to score. */
  writeParts(parts: readonly CallPart[]): Promise<void>
  /** Sets the one function that is called for ends of clients' calls. */
  watchEnds(watcher: OnEnded): void
  /** Wire: an unknown call is not an error; an empty name shows the op's own name again. */
  update(req: CallUpdateReq): Promise<Record<string, never>>
  /** Wire: the count is of the given ids and their descendants, known or not. @throws 413 for too many at once */
  delete(req: CallsDeleteReq): Promise<{ num_deleted: number }>
}

interface Deps {
  traces: TraceDb
  projects: Projects
  redaction: Pick<Redaction, 'of'>
  recent: Pick<RecentCalls, 'insert'>
}

export function createCallWriter({ traces, projects, redaction, recent }: Deps): CallWriter {
  let onEnded: OnEnded = async () => () => undefined

  async function acceptParts(parts: readonly CallPart[]): Promise<void> {
    const ended = parts.filter((part) => part.ended_at !== undefined)
    const settled = await onEnded(ended)
    await writeParts(parts).finally(settled)
  }

  async function writeParts(parts: readonly CallPart[]): Promise<void> {
    for (const projectId of new Set(parts.map((part) => part.project_id)))
      await projects.ensureById(projectId)
    await recent.insert(await redactedParts(joinParts(parts), redaction))
  }

  async function startOne(call: CallStart, { caller }: CallContext): Promise<Started> {
    const part = startPart(call, caller.user, ['start'])
    await acceptParts([part])
    return { id: part.id, trace_id: part.trace_id }
  }

  async function endOne(call: CallEnd): Promise<Record<string, never>> {
    await acceptParts([endPart(call, ['end'])])
    return {}
  }

  async function record(
    project_id: string,
    calls: readonly Omit<CallComplete, 'project_id'>[],
    user: string,
  ): Promise<void> {
    const parts = partsOfItems(calls, (call, index) => [
      startPart({ ...call, project_id }, user, ['batch', index]),
      endPart({ ...call, project_id }, ['batch', index]),
    ])
    await acceptParts(parts.flat())
  }

  async function upsertBatch(req: CallUpsertBatchReq, { caller }: CallContext) {
    const written = partsOfItems(req.batch, (item, index): Written => {
      const at = ['batch', index, 'req', item.mode]
      if (item.mode === 'end') return { part: endPart(item.req.end, at), res: {} }
      const part = startPart(item.req.start, caller.user, at)
      return { part, res: { id: part.id, trace_id: part.trace_id } }
    })
    await acceptParts(written.map(({ part }) => part))
    return { res: written.map(({ res }) => res) }
  }

  async function complete(req: CallsCompleteReq & ProjectPath, { caller }: CallContext) {
    await record(projectIdOf(req), req.batch, caller.user)
    return {}
  }

  async function update(req: CallUpdateReq) {
    if (req.display_name == null) throw invalidRequest('One of [display_name] is required for call update')
    checkDisplayName(req.display_name)
    await writeParts([
      { project_id: req.project_id, id: callId(req.call_id), display_name: req.display_name },
    ])
    return {}
  }

  async function remove({ project_id, call_ids }: CallsDeleteReq) {
    if (call_ids.length > DELETE_MAX) throw tooLarge(`At most ${DELETE_MAX} calls can be deleted at once`)
    const ids = await withDescendants(traces, project_id, call_ids.map(callId))
    const deleted_at = nowIso()
    // Parents are deleted after their children, so that repeating an interrupted deletion finds the rest.
    const lastFirst = ids.toReversed()
    for (const some of slicesOf(lastFirst, DELETED_AT_ONCE)) {
      await writeParts(some.map((id) => ({ project_id, id, deleted_at })))
    }
    return { num_deleted: ids.length }
  }

  return {
    start: (req, context) => startOne(req.start, context),
    startV2: (req, context) => startOne({ ...req.start, project_id: projectIdOf(req) }, context),
    end: (req) => endOne(req.end),
    endV2: (req) => endOne({ ...req.end, project_id: projectIdOf(req) }),
    upsertBatch,
    complete,
    record,
    acceptParts,
    writeParts,
    watchEnds(watcher) {
      onEnded = watcher
    },
    update,
    delete: remove,
  }
}

/** What is made of each item of a batch. @throws 422 with the index of an item that is refused for what it says */
function partsOfItems<Item, Parts>(
  items: readonly Item[],
  partsOf: (item: Item, index: number) => Parts,
): Parts[] {
  return items.map((item, index) => {
    try {
      return partsOf(item, index)
    } catch (error) {
      throw invalidItem(index, error)
    }
  })
}
