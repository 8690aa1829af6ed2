import { ClientError, invalidRequest, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { isoOfMicros, microsOf, nowIso } from '../../time.ts'
import { itemShown } from './items.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** How long a claim on an item keeps it from other annotators: long enough to read a long trace and think about it. */
const CLAIM_MINUTES = 30

const TARGETS = ['in_progress', 'completed', 'skipped'] as const

export interface ItemProgressDeps {
  control: ControlDb
  find: (name: wire.QueueName) => Promise<unknown>
}

/**
 * Progress of annotators on items. An annotator who starts an item claims it, for a limited time and with their key:
 * meanwhile progress of others is refused. An expired claim leaves the item as it was before.
 */
export interface ItemProgress {
  /** Wire: a finished item stays finished; finishing it again changes nothing. */
  setProgress(req: wire.ItemProgressReq, context: CallContext): Promise<wire.ItemProgressRes>
}

export function createItemProgress({ control, find }: ItemProgressDeps): ItemProgress {
  async function setProgress(
    req: wire.ItemProgressReq,
    { caller }: CallContext,
  ): Promise<wire.ItemProgressRes> {
    const target = TARGETS.find((state) => state === req.annotation_state)
    if (target === undefined) throw invalidRequest(`annotation_state must be one of ${TARGETS.join(', ')}`)
    await find(req)
    return control.transaction().execute(async (tx) => {
      const item = await itemNow(tx, req)
      const result = await queries.findResult(tx, item.id, caller.user)
      if (result === target) return { item: itemShown(req.project_id, item) }
      if (result !== undefined)
        throw invalidRequest(`Item ${item.id} is ${result} already, and cannot become ${target}`)
      const isFree = await (target === 'in_progress'
        ? claim(tx, item, caller)
        : finish(tx, item, caller, target))
      if (!isFree) throw claimed(item)
      return { item: itemShown(req.project_id, await itemNow(tx, req)) }
    })
  }

  return { setProgress }
}

/** @throws 404 for an item that the queue does not have. */
async function itemNow(tx: ControlTx, req: wire.ItemProgressReq): Promise<queries.ItemRow> {
  const selection = { queue_id: req.queue_id, filter: { id: req.item_id }, now: nowIso() }
  const [item] = await queries.listItems(tx, selection, THE_ONE)
  if (item === undefined) throw notFound('Annotation queue item', req.item_id)
  return item
}

const THE_ONE = { order: [], limit: 1, offset: 0, position: 'without' as const }

/** Claims an item, or extends the claim; returns whether it was free. */
function claim(tx: ControlTx, item: queries.ItemRow, holder: queries.Holder): Promise<boolean> {
  const now = nowIso()
  const changes = {
    claimed_by: holder.user,
    claimed_with: holder.keyId,
    claimed_until: isoOfMicros(microsOf(now) + CLAIM_MINUTES * 60_000_000),
    ...(item.annotation_state !== 'in_progress' && { updated_at: now }),
  }
  return queries.changeItem(tx, { itemId: item.id, holder, now }, changes)
}

/** Writes the annotator's result for an item; returns whether it was free. */
async function finish(
  tx: ControlTx,
  item: queries.ItemRow,
  holder: queries.Holder,
  state: 'completed' | 'skipped',
): Promise<boolean> {
  const now = nowIso()
  const changes = {
    finished_state: state,
    finished_by: holder.user,
    claimed_by: null,
    claimed_with: null,
    claimed_until: null,
    updated_at: now,
  }
  const isFree = await queries.changeItem(tx, { itemId: item.id, holder, now }, changes)
  if (!isFree) return false
  await queries.insertResult(tx, { item_id: item.id, annotator: holder.user, state, finished_at: now })
  if (item.finished_state === null) await queries.countFinished(tx, item.queue_id)
  return true
}

/** 409 with the annotator who has claimed an item and until when, in words and as fields. */
function claimed({ id, claimed_by, claimed_until }: queries.ItemRow): ClientError {
  const message = `Item ${id} is in progress by ${claimed_by}, until ${claimed_until} at the latest: take another one`
  return new ClientError(409, 'ConflictError', message, { extra: { claimed_by, claimed_until } })
}
