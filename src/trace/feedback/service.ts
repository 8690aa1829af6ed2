import { placeOf, requireRight } from '../../access.ts'
import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { idOf } from '../../ids.ts'
import { JsonText } from '../../json/lossless-json.ts'
import type { Redaction } from '../../redaction/service.ts'
import { inChanges } from '../../stores/trace-db/keyed-changes.ts'
import { firstOf, rowsOf, type Query as Sql, type TraceDb } from '../../stores/trace-db/port.ts'
import { forEachYielding } from '../../yielding.ts'
import type { AnnotationQueues } from '../annotation-queues/service.ts'
import { collectReply, createReplyBudget } from '../collect-reply.ts'
import { invalidItem } from '../invalid-item.ts'
import type { Objects } from '../objects/service.ts'
import { namedIds } from '../query-language/named-ids.ts'
import { type Page, sortedPageOf } from '../query-language/page.ts'
import { ALL_COLUMNS, fieldsReader, isShown, type StoredFeedback } from './fields.ts'
import * as queries from './queries.ts'
import { redactedRows, type StoredRow } from './redact-rows.ts'
import { createRowCheck } from './row-check.ts'
import type * as wire from './wire.ts'

/** Annotations in a batch are each checked against an object; clients halve a batch that is refused as too large. */
const BATCH_MAX = 1000

/**
 * Besides its text, a field of a row takes as much memory as about so many characters of the reply, also where it is
 * absent.
 */
const CELL_CHARS = 32

/** The time in an id that is derived from content alone. */
const NO_TIME = 0

/** Feedback of people and scorers on calls and objects. */
export interface Feedback {
  /** Writes feedback of the server itself. */
  record(batch: readonly wire.FeedbackCreateReq[], user: string): Promise<StoredRow[]>
  create(req: wire.FeedbackCreateReq, context: CallContext): Promise<wire.FeedbackCreateRes>
  /** Writes all or none. @throws 422 with the index of an item that is refused for what it says */
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
  const { traces, projects, redaction } = deps
  const checkedRow = createRowCheck(deps)

  /** All are checked before any is written. */
  async function record(batch: readonly wire.FeedbackCreateReq[], user: string): Promise<StoredRow[]> {
    const rows: StoredRow[] = []
    for (const feedback of batch) rows.push(await checkedRow(feedback, user))
    return write(rows)
  }

  async function write(rows: readonly StoredRow[]): Promise<StoredRow[]> {
    for (const projectId of new Set(rows.map((row) => row.project_id))) await projects.ensureById(projectId)
    const stored = await redactedRows(rows, redaction)
    await traces.insert('feedback', stored)
    return stored
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
    const [row] = await record([req], context.caller.user)
    return resultOf(row)
  }

  async function createBatch({ batch }: wire.FeedbackCreateBatchReq, context: CallContext) {
    if (batch.length > BATCH_MAX) throw tooLarge(`At most ${BATCH_MAX} items of feedback at once`)
    await checkReplaces(batch, context)
    const rows: StoredRow[] = []
    for (const [index, feedback] of batch.entries()) {
      try {
        rows.push(await checkedRow(feedback, context.caller.user))
      } catch (error) {
        throw invalidItem(index, error)
      }
    }
    return { res: (await write(rows)).map(resultOf) }
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
    const [row] = await record([{ ...req, id }], caller.user)
    if (row !== undefined) await traces.command(queries.deleteReplaced(req.project_id, req.feedback_id, row))
    return resultOf(row)
  }

  return { record, create, createBatch, query, purge, replace }
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
  await forEachYielding(rows, (row) => {
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

function resultOf(row: StoredRow | undefined): wire.FeedbackCreateRes {
  if (row === undefined) throw new Error('One row was written for each item')
  const { id, created_at, wb_user_id, payload } = row
  return { id, created_at, wb_user_id, payload: new JsonText(payload) }
}
