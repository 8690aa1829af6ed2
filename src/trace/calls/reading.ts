import type { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Costs } from '../costs/service.ts'
import { costsOf, usageIn } from '../costs/usage-costs.ts'
import type { Feedback } from '../feedback/service.ts'
import type { Refs } from '../refs/service.ts'
import { createExpanding } from './expanding.ts'
import { PAYLOADS, type PayloadColumn } from './fields.ts'
import { callId } from './parts.ts'
import * as queries from './queries.ts'
import { callOf, type ShownFeedback } from './shape.ts'
import type * as wire from './wire.ts'

/** Wire: a list in a filter is limited to this. */
const FILTER_LIST_MAX = 1000

/** Rows fetched at once while a list streams: bounds memory whatever the size of payloads and lists. */
const ROWS_PER_FETCH = 500

const OLDEST_FIRST = [
  { field: 'started_at', direction: 'asc' as const },
  { field: 'id', direction: 'asc' as const },
]

interface ReadingDeps {
  traces: TraceDb
  feedback: Feedback
  costs: Pick<Costs, 'priceLists'>
  refs: Pick<Refs, 'resolve'>
}

/** Every way calls are read. */
export function createCallReading(deps: ReadingDeps) {
  const { traces } = deps
  const expanding = createExpanding(deps)
  return {
    /** Wire: 200 with null for an unknown call. */
    async read(req: wire.CallReadReq, context: CallContext) {
      const list = listCalls({ ...req, filter: { call_ids: [callId(req.id)] } }, context)
      return { call: (await firstOf(list)) ?? null }
    },

    async streamQuery(req: wire.CallsStreamQueryReq, context: CallContext) {
      return listCalls(req, context)
    },

    async queryStats(
      req: wire.CallsQueryStatsReq,
      { signal }: CallContext,
    ): Promise<z.input<typeof wire.CallsQueryStatsRes>> {
      checkSelection(req)
      if (req.limit != null && req.limit < 1) throw invalidRequest('limit must be at least 1')
      const storageSize = req.include_total_storage_size ? 'with' : 'without'
      // One row past the limit tells whether there are more.
      const limit = req.limit == null ? undefined : req.limit + 1
      const expanded = await expanding.expandedFields(req, [], req.expand_columns ?? [])
      const query = queries.countCalls({ ...req, expanded }, { limit, storageSize })
      const row = await firstOf(traces.query<{ count: number; bytes: number }>(query, signal))
      const count = row?.count ?? 0
      return {
        count: req.limit == null ? count : Math.min(count, req.limit),
        total_storage_size_bytes: storageSize === 'with' ? (row?.bytes ?? 0) : null,
        has_more: req.limit == null ? null : count > req.limit,
      }
    },
  }

  function listCalls(
    req: wire.CallsStreamQueryReq,
    context: CallContext,
  ): AsyncGenerator<z.input<typeof wire.Call>> {
    checkSelection(req)
    if (req.limit != null && req.limit < 0) throw invalidRequest('limit must not be negative')
    if (req.offset != null && req.offset < 0) throw invalidRequest('offset must not be negative')
    const page = { sort_by: sortOf(req), limit: req.limit ?? undefined, offset: req.offset ?? 0 }
    return streamCalls({ ...deps, expanding }, { req, page, context })
  }
}

/**
 * First all ids in order, then their rows some hundred at a time: of a list of any length, only ids and one chunk of
 * payloads are in memory. No query stays open while the next one runs or while the client reads: the database answers
 * few at once, and queries that waited for each other would stop all reads.
 */
async function* streamCalls(
  deps: ReadingDeps & { expanding: ReturnType<typeof createExpanding> },
  work: { req: wire.CallsStreamQueryReq; page: queries.Page; context: CallContext },
): AsyncGenerator<z.input<typeof wire.Call>> {
  const { traces, feedback, costs, expanding } = deps
  const { req, page, context } = work
  const { signal } = context
  const columns = {
    payloads: payloadsOf(req),
    storageSize: req.include_storage_size ? ('with' as const) : ('without' as const),
  }
  const expand = req.expand_columns ?? []
  const sortFields = page.sort_by.map(({ field }) => field)
  const selection = { ...req, expanded: await expanding.expandedFields(req, sortFields, expand) }
  const inOrder = traces.query<{ id: string }>(queries.selectIds(selection, page), signal)
  const found: string[] = []
  for await (const { id } of inOrder) found.push(id)
  for (let at = 0; at < found.length; at += ROWS_PER_FETCH) {
    const ids = found.slice(at, at + ROWS_PER_FETCH)
    const query = queries.selectRows(req.project_id, ids, columns)
    const rows = new Map<string, queries.CallRow>()
    for await (const row of traces.query<queries.CallRow>(query, signal)) rows.set(row.id, row)
    if (req.return_expanded_column_values !== false)
      await expanding.expandValues(req.project_id, [...rows.values()], expand)
    const sizes = req.include_total_storage_size
      ? await traceSizes(traces, req.project_id, [...rows.values()])
      : undefined
    const said = req.include_feedback
      ? await feedbackOn(feedback, { projectId: req.project_id, ids, context })
      : undefined
    const costsById = req.include_costs
      ? await costsOfRows(costs, req.project_id, [...rows.values()])
      : undefined
    for (const id of ids) {
      const row = rows.get(id)
      const shown = {
        usernames: req.include_usernames === true,
        sizes,
        feedback: said && (said.get(id) ?? []),
        costs: costsById?.get(id),
      }
      if (row !== undefined) yield callOf(row, shown)
    }
  }
}

/** Wire: what a call shows of its feedback. */
const FEEDBACK_FIELDS = [
  'id',
  'feedback_type',
  'weave_ref',
  'payload',
  'creator',
  'created_at',
  'wb_user_id',
  'runnable_ref',
  'call_ref',
  'trigger_ref',
  'annotation_ref',
]

async function feedbackOn(
  feedback: Feedback,
  calls: { projectId: string; ids: readonly string[]; context: CallContext },
): Promise<Map<string, ShownFeedback[]>> {
  const prefix = `weave:///${calls.projectId}/call/`
  const refs = calls.ids.map((id) => ({ $literal: `${prefix}${id}` }))
  const query = { $expr: { $in: [{ $getField: 'weave_ref' }, refs] as [{ $getField: string }, typeof refs] } }
  const req = { project_id: calls.projectId, fields: FEEDBACK_FIELDS, query }
  const { result } = await feedback.query(req, calls.context)
  return Map.groupBy(result, (row) => String(row['weave_ref']?.value()).slice(prefix.length))
}

async function costsOfRows(
  costs: Pick<Costs, 'priceLists'>,
  projectId: string,
  rows: readonly queries.CallRow[],
): Promise<Map<string, object | undefined>> {
  const usages = rows.map((row) => ({ row, usage: usageIn(row.summary) }))
  const models = usages.flatMap(({ usage }) => [...usage.keys()])
  const prices = await costs.priceLists(projectId, models)
  return new Map(usages.map(({ row, usage }) => [row.id, costsOf(usage, prices, row.started_at)]))
}

async function traceSizes(
  traces: TraceDb,
  projectId: string,
  rows: readonly queries.CallRow[],
): Promise<Map<string, number>> {
  const roots = rows.filter((row) => row.parent_id === null).map((row) => row.trace_id)
  const query = queries.selectTraceSizes(projectId, roots)
  const sizes = await rowsOf(traces.query<{ trace_id: string; bytes: number }>(query))
  return new Map(sizes.map((size) => [size.trace_id, size.bytes]))
}

/** Wire: `inputs.a` asks for all of `inputs`, and costs for the summary. */
function payloadsOf(req: wire.CallsStreamQueryReq): readonly PayloadColumn[] {
  if (req.columns == null || req.columns.length === 0) return PAYLOADS
  const roots = new Set(req.columns.map((column) => column.split('.')[0]))
  if (req.include_costs) roots.add('summary')
  return PAYLOADS.filter((payload) => roots.has(payload))
}

/** Wire: sizes give no order; an order without `id` gets it appended, ascending only after an ascending start time. */
function sortOf(req: wire.CallsStreamQueryReq): readonly { field: string; direction: 'asc' | 'desc' }[] {
  const last = req.sort_by?.at(-1)
  if (req.sort_by?.some(({ field }) => /^(total_)?storage_size_bytes$/.test(field)))
    throw invalidRequest('Calls cannot be sorted by their storage size')
  if (req.sort_by == null || last === undefined) return OLDEST_FIRST
  if (req.sort_by.some((key) => key.field === 'id')) return req.sort_by
  return [...req.sort_by, { field: 'id', direction: last.field === 'started_at' ? last.direction : 'desc' }]
}

function checkSelection(req: Pick<wire.CallsStreamQueryReq, 'filter'>): void {
  for (const [name, values] of Object.entries(req.filter ?? {})) {
    if (Array.isArray(values) && values.length > FILTER_LIST_MAX) {
      throw invalidRequest(`filter.${name} has more than ${FILTER_LIST_MAX} entries`)
    }
  }
}
