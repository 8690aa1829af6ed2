import { tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { withoutNul } from '../../without-nul.ts'
import { pageOf } from '../query-language/page.ts'
import { orderOf } from './order.ts'
import * as queries from './queries.ts'
import { textsOf } from './texts.ts'
import type * as wire from './wire.ts'

/** Calls added at once: SQLite takes 32,766 values in a statement, and other writes run between two of these. */
const CALLS_PER_INSERT = 1000

/** Items of one reply: they are read in one query, so that none is in it twice, while other requests wait. */
const ITEMS_PER_REPLY = 20_000

const SORT_FIELDS = new Set(['call_started_at', 'call_op_name', 'created_at', 'updated_at'])
const OLDEST_FIRST: queries.Order = [['created_at', 'asc']]

export interface QueueItemsDeps {
  control: ControlDb
  traces: TraceDb
  find: (name: wire.QueueName) => Promise<unknown>
}

/** The calls in a queue. */
export interface QueueItems {
  /** Calls are added in batches, each committed by itself: an interrupted request can be repeated as it was. */
  addCalls(req: wire.QueueAddCallsReq, context: CallContext): Promise<wire.QueueAddCallsRes>
  /** @throws 413 for more than a reply holds; items are never left out silently. */
  queryItems(req: wire.QueueItemsQueryReq): Promise<wire.QueueItemsQueryRes>
}

export function createQueueItems({ control, traces, find }: QueueItemsDeps): QueueItems {
  /** Adds those of some calls that are not in the queue; returns how many were new, and how many were in it already. */
  async function add(
    { project_id, queue_id, display_fields }: wire.QueueAddCallsReq,
    ids: readonly string[],
    user: string,
  ): Promise<wire.QueueAddCallsRes> {
    const queued = await queries.queuedCalls(control, queue_id, ids)
    const fresh = ids.filter((id) => !queued.has(id))
    const calls = await rowsOf(traces.query<queries.QueuedCall>(queries.selectCalls(project_id, fresh)))
    const byId = new Map(calls.map((call) => [call.id, call]))
    const found = fresh.flatMap((id) => byId.get(id) ?? [])
    if (found.length === 0) return { added_count: 0, duplicates: queued.size }
    // The items are written last: when a request fails between the two writes, repeating it adds both.
    await traces.insert(
      'annotation_queue_calls',
      found.map(({ id }) => ({ project_id, queue_id, call_id: id })),
    )
    const texts = JSON.stringify(display_fields)
    const items = found.map((call) => itemOf(call, { queue_id, display_fields: texts, added_by: user }))
    const added = await queries.insertItems(control, queue_id, items)
    return { added_count: added, duplicates: queued.size + items.length - added }
  }

  async function addCalls(
    req: wire.QueueAddCallsReq,
    { caller }: CallContext,
  ): Promise<wire.QueueAddCallsRes> {
    await find(req)
    const ids = [...new Set(req.call_ids)]
    const sum = { added_count: 0, duplicates: 0 }
    for (const some of slicesOf(ids, CALLS_PER_INSERT)) {
      const { added_count, duplicates } = await add(req, some, caller.user)
      sum.added_count += added_count
      sum.duplicates += duplicates
    }
    return sum
  }

  async function queryItems(req: wire.QueueItemsQueryReq): Promise<wire.QueueItemsQueryRes> {
    const { limit = Number.MAX_SAFE_INTEGER, offset } = pageOf(req)
    await find(req)
    const rows = await queries.listItems(
      control,
      { queue_id: req.queue_id, filter: req.filter ?? {}, now: nowIso() },
      {
        order: orderOf(req.sort_by, SORT_FIELDS, OLDEST_FIRST),
        // One more shows whether there are too many.
        limit: Math.min(limit, ITEMS_PER_REPLY + 1),
        offset,
        position: req.include_position ? 'with' : 'without',
      },
    )
    if (rows.length > ITEMS_PER_REPLY)
      throw tooLarge(`More than ${ITEMS_PER_REPLY} items: ask for them in pages with limit and offset`)
    return { items: rows.map((row) => itemShown(req.project_id, row)) }
  }

  return { addCalls, queryItems }
}

function itemOf(
  call: queries.QueuedCall,
  fields: Pick<queries.StoredItem, 'queue_id' | 'display_fields' | 'added_by'>,
): queries.StoredItem {
  const now = nowIso()
  return {
    ...fields,
    id: newId(),
    call_id: call.id,
    call_started_at: call.started_at,
    call_ended_at: call.ended,
    // One call whose names have U+0000 must not keep others out of a queue.
    call_op_name: withoutNul(call.op_name),
    call_trace_id: withoutNul(call.trace_id),
    finished_state: null,
    finished_by: null,
    claimed_by: null,
    claimed_with: null,
    claimed_until: null,
    created_at: now,
    updated_at: now,
  }
}

/** A row as the wire shows it. */
export function itemShown(project_id: string, row: queries.ItemRow): wire.AnnotationQueueItem {
  return {
    id: row.id,
    project_id,
    queue_id: row.queue_id,
    call_id: row.call_id,
    call_started_at: row.call_started_at,
    call_ended_at: row.call_ended_at,
    call_op_name: row.call_op_name,
    call_trace_id: row.call_trace_id,
    display_fields: textsOf(row.display_fields),
    added_by: row.added_by,
    annotation_state: row.annotation_state,
    annotator_user_id: row.annotator_user_id,
    created_at: row.created_at,
    created_by: row.added_by,
    updated_at: row.updated_at,
    deleted_at: null,
    position_in_queue: row.position_in_queue,
  }
}
