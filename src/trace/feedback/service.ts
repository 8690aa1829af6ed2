import { placeOf, requireRight } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { idOf, newId } from '../../ids.ts'
import { inTurns } from '../../in-turns.ts'
import { JsonText } from '../../lossless-json.ts'
import type { Redaction } from '../../redaction/service.ts'
import { inChanges } from '../../stores/trace-db/keyed-changes.ts'
import { firstOf, rowsOf, type Query as Sql, type TraceDb } from '../../stores/trace-db/port.ts'
import { nowIso } from '../../time.ts'
import type { AnnotationQueues } from '../annotation-queues/service.ts'
import { collectReply, createReplyBudget } from '../collect-reply.ts'
import type { Objects } from '../objects/service.ts'
import { namedIds } from '../query-language/named-ids.ts'
import { type Page, sortedPageOf } from '../query-language/page.ts'
import { internalRef, isInternalRef, isRef } from '../ref-uri.ts'
import { refsIn } from '../refs/refs-in.ts'
import { ALL_COLUMNS, fieldsReader, isShown, type StoredFeedback } from './fields.ts'
import { checkedPayload } from './payload.ts'
import * as queries from './queries.ts'
import { redactedRows, type StoredRow } from './redact-rows.ts'
import type * as wire from './wire.ts'

/** Annotations in a batch are each checked against an object; clients halve a batch that is refused as too large. */
const BATCH_MAX = 1000

/** An id is a UUID by custom; longer ones would only fill the table's key. */
const ID_CHARS_MAX = 128

/** Besides its text, a field of a row takes as much memory as about so many characters of the reply, also where it is absent. */
const CELL_CHARS = 32

/** The time in an id that is derived from content alone. */
const NO_TIME = 0

/** Feedback of people and scorers on calls and objects. */
export interface Feedback {
  /** Writes feedback of the server itself. */
  record(batch: readonly wire.FeedbackCreateReq[], user: string): Promise<StoredRow[]>
  create(req: wire.FeedbackCreateReq, context: CallContext): Promise<wire.FeedbackCreateRes>
  createBatch(req: wire.FeedbackCreateBatchReq, context: CallContext): Promise<wire.FeedbackCreateBatchRes>
  query(req: wire.FeedbackQueryReq, context: CallContext): Promise<wire.FeedbackQueryRes>
  /** @throws 400 for a query that does more than name ids, or names too many */
  purge(req: wire.FeedbackPurgeReq): Promise<wire.FeedbackPurgeRes>
  /** After a crash, the old and the new feedback may both exist, but never none. */
  replace(req: wire.FeedbackReplaceReq, context: CallContext): Promise<wire.FeedbackCreateRes>
}

export function createFeedback(deps: {
  traces: TraceDb
  projects: Projects
  objects: Objects
  annotationQueues: Pick<AnnotationQueues, 'isLive'>
  redaction: Pick<Redaction, 'of'>
}): Feedback {
  const { traces, projects, objects, annotationQueues, redaction } = deps

  /** All are checked before any is written. */
  async function write(batch: readonly wire.FeedbackCreateReq[], user: string): Promise<StoredRow[]> {
    const rows: StoredRow[] = []
    for (const feedback of batch) {
      await checkQueue(feedback)
      rows.push(await rowOf(feedback, { user, readObject }))
    }
    for (const projectId of new Set(batch.map((feedback) => feedback.project_id)))
      await projects.ensureById(projectId)
    const stored = await redactedRows(rows, redaction)
    await traces.insert('feedback', stored)
    return stored
  }

  /** @throws 400 for feedback from a queue that the project does not have, or that was deleted. */
  async function checkQueue({ project_id, queue_id }: wire.FeedbackCreateReq): Promise<void> {
    if (queue_id != null && !(await annotationQueues.isLive({ project_id, queue_id })))
      throw invalidRequest(`Annotation queue ${queue_id.slice(0, ID_CHARS_MAX)} not found`)
  }

  async function readObject(project_id: string, object_id: string, digest: string): Promise<JsonText | null> {
    const { obj } = await objects.read({ project_id, object_id, digest })
    return obj.val
  }

  /**
   * A row with an id that exists replaces that feedback, which changes it.
   * @throws 403 for feedback of another user and a caller who may only add
   */
  async function checkReplaces(batch: readonly wire.FeedbackCreateReq[], { caller }: CallContext) {
    const given = Map.groupBy(
      batch.filter(({ id }) => id != null),
      ({ project_id }) => project_id,
    )
    for (const [projectId, items] of given) {
      const place = placeOf(projectId)
      if (caller.rights.allows('write', place)) continue
      const ids = items.flatMap(({ id }) => id ?? [])
      const found = await rowsOf(traces.query<{ user: string }>(queries.selectUsers(projectId, ids)))
      if (found.some(({ user }) => user !== caller.user)) requireRight(caller.rights, 'write', place)
    }
  }

  function readRows(query: Sql, signal: AbortSignal): Promise<StoredFeedback[]> {
    const lengthOf = (value: unknown) =>
      (typeof value === 'string' ? value : JSON.stringify(value ?? '')).length
    return collectReply(traces.query<StoredFeedback>(query, signal), (row) =>
      Object.values(row).reduce<number>((sum, value) => sum + lengthOf(value), 0),
    )
  }

  async function create(req: wire.FeedbackCreateReq, context: CallContext): Promise<wire.FeedbackCreateRes> {
    await checkReplaces([req], context)
    const [row] = await write([req], context.caller.user)
    return resultOf(row)
  }

  async function createBatch({ batch }: wire.FeedbackCreateBatchReq, context: CallContext) {
    if (batch.length > BATCH_MAX) throw tooLarge(`At most ${BATCH_MAX} items of feedback at once`)
    await checkReplaces(batch, context)
    return { res: (await write(batch, context.caller.user)).map(resultOf) }
  }

  async function query(req: wire.FeedbackQueryReq, { signal }: CallContext) {
    const page = sortedPageOf(req)
    const fields = fieldsOf(req)
    const count = traces.query<{ count: number }>(queries.countFeedback(req), signal)
    const isCount = fields.some(isCountField)
    const rows = isCount ? [] : await readRows(queries.selectFeedback(req, fields, page), signal)
    const total_count = (await firstOf(count))?.count ?? 0
    const result = isCount
      ? countRows(fields, total_count, page)
      : await shownRows(rows, { fields, isShown: req.fields?.length ? () => true : isShown }, signal)
    return { result, total_count }
  }

  async function purge(req: wire.FeedbackPurgeReq) {
    const ids = namedIds(req.query)
    if (ids === undefined)
      throw invalidRequest('Can only purge feedback by specifying one or more feedback ids')
    for (const keys of inChanges(ids.map((id) => ({ id }))))
      await traces.command(queries.deleteFeedback(req.project_id, keys))
    return {}
  }

  async function replace(
    req: wire.FeedbackReplaceReq,
    { caller }: CallContext,
  ): Promise<wire.FeedbackCreateRes> {
    // The id is derived from both, so that repeating the request changes nothing.
    const id = req.id ?? idOf(JSON.stringify({ ...req, payload: req.payload.text }), NO_TIME)
    const [row] = await write([{ ...req, id }], caller.user)
    if (row !== undefined) await traces.command(queries.deleteReplaced(req.project_id, req.feedback_id, row))
    return resultOf(row)
  }

  return { record: write, create, createBatch, query, purge, replace }
}

/** Rows with those of the fields that are shown of each. @throws 413 for more than a reply can hold */
async function shownRows(
  rows: readonly StoredFeedback[],
  {
    fields,
    isShown,
  }: { fields: readonly string[]; isShown: (row: StoredFeedback, field: string) => boolean },
  signal: AbortSignal,
): Promise<wire.FeedbackQueryRes['result']> {
  const textsOf = fieldsReader(fields)
  // Fields may overlap, as a payload and each of its members do.
  const onPayload = createReplyBudget()
  const result: wire.FeedbackQueryRes['result'] = []
  await inTurns(rows, (row) => {
    signal.throwIfAborted()
    const texts = textsOf(row)
    const members: Record<string, JsonText | null> = {}
    for (const [index, field] of fields.entries()) {
      if (!isShown(row, field)) continue
      const text = texts[index]
      onPayload(CELL_CHARS + field.length + (text?.length ?? 0))
      members[field] = text === undefined ? null : new JsonText(text)
    }
    result.push(members)
  })
  return result
}

/** The fields that a query returns; `*` stands for all columns. @throws 400 for a count beside other fields. */
function fieldsOf({ fields }: wire.FeedbackQueryReq): string[] {
  if (!fields?.length) return ALL_COLUMNS
  if (fields.some(isCountField) && !fields.every(isCountField))
    throw invalidRequest('count(*) cannot be asked for together with other fields')
  return [...new Set(fields.flatMap((field) => (field === '*' ? ALL_COLUMNS : [field])))]
}

function isCountField(field: string): boolean {
  return field.toLowerCase() === 'count(*)'
}

/** Wire: a count is the only row of its list. */
function countRows(fields: readonly string[], count: number, { limit, offset }: Page) {
  const row = Object.fromEntries(fields.map((field) => [field, new JsonText(String(count))]))
  return limit === 0 || offset > 0 ? [] : [row]
}

type ReadObject = Parameters<typeof checkedPayload>[1]

/** @throws 400 for invalid feedback. */
async function rowOf(
  feedback: wire.FeedbackCreateReq,
  { user, readObject }: { user: string; readObject: ReadObject },
): Promise<StoredRow> {
  const id = feedback.id ?? newId()
  if (id === '' || id.length > ID_CHARS_MAX) throw invalidRequest(`Invalid feedback id: ${id.slice(0, 64)}`)
  checkRef(feedback.weave_ref)
  refsIn(feedback.payload)
  return {
    ...feedback,
    id,
    payload: await checkedPayload(feedback, readObject),
    // The display name, which the client chooses; the user is recorded beside it.
    creator: feedback.creator ?? null,
    wb_user_id: user,
    created_at: nowIso(),
  }
}

function checkRef(ref: string): void {
  if (isInternalRef(ref)) throw invalidRequest('Unexpected internal ref format')
  if (isRef(ref)) internalRef(ref)
}

function resultOf(row: StoredRow | undefined): wire.FeedbackCreateRes {
  if (row === undefined) throw new Error('One row was written for each item')
  const { id, created_at, wb_user_id, payload } = row
  return { id, created_at, wb_user_id, payload: new JsonText(payload) }
}
