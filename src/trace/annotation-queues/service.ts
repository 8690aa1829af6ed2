import type { Projects } from '../../accounts/projects.ts'
import { notFound, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import { slicesOf } from '../../slices.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import { pageOf } from '../query-language/page.ts'
import { createQueueItems, type QueueItems } from './items.ts'
import { orderOf } from './order.ts'
import { createItemProgress, type ItemProgress } from './progress.ts'
import * as queries from './queries.ts'
import { textsOf } from './texts.ts'
import type * as wire from './wire.ts'

/** Queues in memory at once: their descriptions may be long. */
const QUEUES_PER_READ = 100

/** Queues of one reply: their ids are all in memory, so that none is in it twice. */
const QUEUES_PER_REPLY = 100_000

const SORT_FIELDS = new Set(['id', 'name', 'created_at', 'updated_at'])
const NEWEST_FIRST: queries.Order = [['created_at', 'desc']]

/**
 * Queues of calls that people review one by one, with the result for each. They are in the control database, where
 * claiming an item is a compare-and-set; the trace database only has which calls are in them, for queries of calls.
 */
export interface AnnotationQueues extends QueueItems, ItemProgress {
  create(req: wire.QueueCreateReq, context: CallContext): Promise<wire.QueueCreateRes>
  /** @throws 413 for more than a reply holds; queues are never left out silently. */
  query(req: wire.QueuesQueryReq): Promise<AsyncGenerator<wire.AnnotationQueue>>
  read(name: wire.QueueName): Promise<wire.QueueRes>
  update(req: wire.QueueUpdateReq): Promise<wire.QueueRes>
  /** Wire: the reply is the queue with the time at which it was deleted. */
  remove(name: wire.QueueName): Promise<wire.QueueRes>
  /** Wire: one entry for each requested queue; an unknown queue has no items. */
  stats(req: wire.QueuesStatsReq): Promise<wire.QueuesStatsRes>
  /** Whether a project has a queue that is not deleted. */
  isLive(name: wire.QueueName): Promise<boolean>
}

export function createAnnotationQueues(deps: {
  control: ControlDb
  traces: TraceDb
  projects: Projects
}): AnnotationQueues {
  const { control, projects, traces } = deps

  /** @throws 404 for a queue that the project does not have, or no longer. */
  async function find(name: wire.QueueName): Promise<queries.QueueRow> {
    const queue = await queries.findQueue(control, name)
    if (queue === undefined) throw notFound('Annotation queue', name.queue_id)
    return queue
  }

  async function change(name: wire.QueueName, changes: Partial<queries.QueueRow>) {
    const queue = await queries.changeQueue(control, name, changes)
    if (queue === undefined) throw notFound('Annotation queue', name.queue_id)
    return { queue: shown(queue) }
  }

  async function create(req: wire.QueueCreateReq, { caller }: CallContext) {
    await projects.ensureById(req.project_id)
    const [id, now] = [newId(), nowIso()]
    await queries.insertQueue(control, {
      ...columnsOf(req),
      id,
      project_id: req.project_id,
      total_items: 0,
      completed_items: 0,
      created_by: caller.user,
      created_at: now,
      updated_at: now,
      deleted_at: null,
    })
    return { id }
  }

  async function query(req: wire.QueuesQueryReq): Promise<AsyncGenerator<wire.AnnotationQueue>> {
    const { limit = Number.MAX_SAFE_INTEGER, offset } = pageOf(req)
    const order = orderOf(req.sort_by, SORT_FIELDS, NEWEST_FIRST)
    const selection = { project_id: req.project_id, name: req.name ?? undefined }
    // One more shows whether there are too many.
    const page = { order, limit: Math.min(limit, QUEUES_PER_REPLY + 1), offset }
    const ids = await queries.listQueueIds(control, selection, page)
    if (ids.length > QUEUES_PER_REPLY)
      throw tooLarge(`More than ${QUEUES_PER_REPLY} queues: ask for them in pages with limit and offset`)
    return listed(control, ids)
  }

  async function read(name: wire.QueueName) {
    return { queue: shown(await find(name)) }
  }

  async function update({ project_id, queue_id, ...fields }: wire.QueueUpdateReq) {
    const name = { project_id, queue_id }
    const changes = changesOf(fields)
    if (Object.keys(changes).length === 0) return { queue: shown(await find(name)) }
    return change(name, { ...changes, updated_at: nowIso() })
  }

  async function remove(name: wire.QueueName) {
    await find(name)
    // The queue is marked last: when a request fails between the two writes, repeating it writes both.
    await traces.insert('annotation_queue_calls', [{ ...name, call_id: '' }])
    const now = nowIso()
    return change(name, { deleted_at: now, updated_at: now })
  }

  async function stats({ project_id, queue_ids }: wire.QueuesStatsReq): Promise<wire.QueuesStatsRes> {
    const counted = await queries.countItems(control, project_id, queue_ids)
    const byId = new Map(counted.map((row) => [row.queue_id, row]))
    return {
      stats: queue_ids.map((id) => byId.get(id) ?? { queue_id: id, total_items: 0, completed_items: 0 }),
    }
  }

  async function isLive(name: wire.QueueName): Promise<boolean> {
    return (await queries.findQueue(control, name)) !== undefined
  }

  return {
    create,
    query,
    read,
    update,
    remove,
    stats,
    isLive,
    ...createQueueItems({ ...deps, find }),
    ...createItemProgress({ control, find }),
  }
}

function columnsOf({ name, description, scorer_refs }: Omit<wire.QueueCreateReq, 'project_id'>) {
  return { ...nameColumns(name), description, scorer_refs: JSON.stringify(scorer_refs) }
}

/** The columns of the given fields. */
function changesOf(fields: Omit<wire.QueueUpdateReq, keyof wire.QueueName>): Partial<queries.QueueRow> {
  const { name, description, scorer_refs } = fields
  return {
    ...(name != null && nameColumns(name)),
    ...(description != null && { description }),
    ...(scorer_refs != null && { scorer_refs: JSON.stringify(scorer_refs) }),
  }
}

function nameColumns(name: string) {
  return { name, name_lower: name.toLowerCase() }
}

async function* listed(control: ControlDb, ids: readonly string[]): AsyncGenerator<wire.AnnotationQueue> {
  for (const some of slicesOf(ids, QUEUES_PER_READ)) {
    const queues = await queries.readQueues(control, some)
    yield* queues.map(shown)
  }
}

function shown(queue: queries.QueueRow): wire.AnnotationQueue {
  const { name_lower: _, total_items: __, completed_items: ___, ...fields } = queue
  return { ...fields, scorer_refs: textsOf(queue.scorer_refs) }
}
