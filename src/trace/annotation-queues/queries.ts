import { type ExpressionBuilder, type Selectable, sql } from 'kysely'
import { contains } from '../../stores/control-db/contains.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import type {
  AnnotationQueueItemsTable,
  AnnotationQueuesTable,
  ControlTables,
} from '../../stores/control-db/tables.ts'
import type { Query } from '../../stores/trace-db/port.ts'
import { ENDED_AT } from '../calls/sql/derived.ts'
import { MERGED_CALLS, VISIBLE } from '../calls/sql/table.ts'
import type * as wire from './wire.ts'

export type QueueRow = Selectable<AnnotationQueuesTable>
export type StoredItem = Selectable<AnnotationQueueItemsTable>

/** The numbers of items of one queue. */
export interface QueueCounts extends Pick<QueueRow, 'total_items' | 'completed_items'> {
  queue_id: string
}

/** An item as it is at a given time. */
export interface ItemRow extends StoredItem {
  annotation_state: wire.AnnotationQueueItem['annotation_state']
  annotator_user_id: string | null
  position_in_queue: number | null
}

export type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[]

export interface Page {
  order: Order
  limit: number
  offset: number
}

export async function insertQueue(control: ControlDb, row: QueueRow): Promise<void> {
  await control.insertInto('annotation_queues').values(row).execute()
}

export function findQueue(control: ControlDb, name: wire.QueueName): Promise<QueueRow | undefined> {
  return control
    .selectFrom('annotation_queues')
    .selectAll()
    .where('id', '=', name.queue_id)
    .where('project_id', '=', name.project_id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Changes a queue that is not deleted, and returns it after the change; undefined where there is none. */
export function changeQueue(
  control: ControlDb,
  name: wire.QueueName,
  changes: Partial<QueueRow>,
): Promise<QueueRow | undefined> {
  return control
    .updateTable('annotation_queues')
    .set(changes)
    .where('id', '=', name.queue_id)
    .where('project_id', '=', name.project_id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
}

/** The ids of a project's queues, in order. */
export async function listQueueIds(
  control: ControlDb,
  selection: { project_id: string; name: string | undefined },
  page: Page,
): Promise<string[]> {
  let query = control
    .selectFrom('annotation_queues')
    .select('id')
    .where('project_id', '=', selection.project_id)
    .where('deleted_at', 'is', null)
  const { name } = selection
  if (name) query = query.where(contains(sql.ref('name_lower'), sql.val(name.toLowerCase())))
  for (const [column, direction] of page.order) query = query.orderBy(sql.ref(column), direction)
  const rows = await query.limit(page.limit).offset(page.offset).execute()
  return rows.map(({ id }) => id)
}

/** Queues in the order of their ids, without those that have been deleted meanwhile. */
export async function readQueues(control: ControlDb, ids: readonly string[]): Promise<QueueRow[]> {
  const rows = await control
    .selectFrom('annotation_queues')
    .selectAll()
    .where('id', 'in', ids)
    .where('deleted_at', 'is', null)
    .execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Number of items in those of the queues that the project has. */
export function countItems(
  control: ControlDb,
  projectId: string,
  queueIds: readonly string[],
): Promise<QueueCounts[]> {
  return control
    .selectFrom('annotation_queues')
    .select(['id as queue_id', 'total_items', 'completed_items'])
    .where('id', 'in', queueIds)
    .where('project_id', '=', projectId)
    .where('deleted_at', 'is', null)
    .execute()
}

/** Which of the calls are in the queue. */
export async function queuedCalls(
  control: ControlDb,
  queueId: string,
  callIds: readonly string[],
): Promise<Set<string>> {
  const rows = await control
    .selectFrom('annotation_queue_items')
    .select('call_id')
    .where('queue_id', '=', queueId)
    .where('call_id', 'in', callIds)
    .execute()
  return new Set(rows.map((row) => row.call_id))
}

/** Adds items whose calls are not in the queue yet; returns how many were added. */
export function insertItems(
  control: ControlDb,
  queueId: string,
  items: readonly StoredItem[],
): Promise<number> {
  return control.transaction().execute(async (tx) => {
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('annotation_queue_items')
      .values(items)
      .onConflict((conflict) => conflict.columns(['queue_id', 'call_id']).doNothing())
      .executeTakeFirstOrThrow()
    const added = Number(numInsertedOrUpdatedRows)
    await tx
      .updateTable('annotation_queues')
      .set((queue) => ({ total_items: queue('total_items', '+', added) }))
      .where('id', '=', queueId)
      .execute()
    return added
  })
}

/** Counts an item as finished by an annotator. */
export async function countFinished(control: ControlTx, queueId: string): Promise<void> {
  await control
    .updateTable('annotation_queues')
    .set((queue) => ({ completed_items: queue('completed_items', '+', 1) }))
    .where('id', '=', queueId)
    .execute()
}

type ItemExpression = ExpressionBuilder<ControlTables, 'annotation_queue_items'>

/** An expired claim counts as none: the item has the state it had before. */
function shownAt(now: string) {
  const claimed = (then: string, otherwise: string) =>
    sql`case when claimed_until > ${now} then ${sql.raw(then)} else ${sql.raw(otherwise)} end`
  return {
    state: claimed(`'in_progress'`, `coalesce(finished_state, 'unstarted')`).$castTo<
      ItemRow['annotation_state']
    >(),
    annotator: claimed('claimed_by', 'finished_by').$castTo<string | null>(),
  }
}

/** Items of a queue as they are `now`, in order. */
export async function listItems(
  control: ControlTx,
  selection: { queue_id: string; filter: wire.QueueItemsFilter; now: string },
  page: Page & { position: 'with' | 'without' },
): Promise<ItemRow[]> {
  const { queue_id, now } = selection
  const { annotation_states: states, ...equal } = selection.filter
  const order = sql.join(
    page.order.map(([column, direction]) => sql`${sql.ref(column)} ${sql.raw(direction)}`),
  )
  const isRanked = page.position === 'with' && states?.length
  const position = isRanked ? sql`row_number() over (order by ${order})` : sql`null`
  const shown = shownAt(now)
  let inner = control
    .selectFrom('annotation_queue_items')
    .selectAll()
    .select([
      shown.state.as('annotation_state'),
      shown.annotator.as('annotator_user_id'),
      position.$castTo<number | null>().as('position_in_queue'),
    ])
    .where('queue_id', '=', queue_id)
  for (const column of ['id', 'call_id', 'call_op_name', 'call_trace_id', 'added_by'] as const) {
    const value = equal[column]
    if (value != null) inner = inner.where(column, '=', value)
  }
  let query = control.selectFrom(inner.as('items')).selectAll()
  if (states?.length) query = query.where('annotation_state', 'in', [...new Set(states)])
  for (const [column, direction] of page.order) query = query.orderBy(sql.ref(column), direction)
  const rows = await query.limit(page.limit).offset(page.offset).execute()
  if (page.position === 'without' || isRanked) return rows
  // Positions are counted over all items in any state, whatever the page.
  return rows.map((row, index) => ({ ...row, position_in_queue: page.offset + index + 1 }))
}

/** An annotator's result for an item. */
export async function findResult(
  control: ControlTx,
  itemId: string,
  annotator: string,
): Promise<'completed' | 'skipped' | undefined> {
  const row = await control
    .selectFrom('annotation_results')
    .select('state')
    .where('item_id', '=', itemId)
    .where('annotator', '=', annotator)
    .executeTakeFirst()
  return row?.state
}

export function insertResult(
  control: ControlTx,
  result: { item_id: string; annotator: string; state: 'completed' | 'skipped'; finished_at: string },
): Promise<unknown> {
  return control.insertInto('annotation_results').values(result).execute()
}

/** The annotator and key of a claim. */
export interface Holder {
  user: string
  keyId: string
}

/** Changes an item unless another annotator has claimed it at `now`; returns whether it did. */
export async function changeItem(
  control: ControlTx,
  { itemId, holder, now }: { itemId: string; holder: Holder; now: string },
  changes: Partial<StoredItem>,
): Promise<boolean> {
  const isFree = (item: ItemExpression) =>
    item.or([
      item('claimed_until', 'is', null),
      item('claimed_until', '<=', now),
      item.and({ claimed_by: holder.user, claimed_with: holder.keyId }),
    ])
  const { numUpdatedRows } = await control
    .updateTable('annotation_queue_items')
    .set(changes)
    .where('id', '=', itemId)
    .where(isFree)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Members of calls that items keep; unknown and deleted calls are absent. */
export interface QueuedCall {
  id: string
  started_at: string
  ended: string | null
  op_name: string
  trace_id: string
}

export function selectCalls(projectId: string, ids: readonly string[]): Query {
  return {
    sql: `SELECT id, started_at, ${ENDED_AT} AS ended, op_name, trace_id FROM ${MERGED_CALLS}
      WHERE project_id = {project_id:String} AND id IN {ids:Array(String)} AND ${VISIBLE}`,
    params: { project_id: projectId, ids },
  }
}
