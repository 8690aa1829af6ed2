import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { inBatches } from '../../trace/batches.ts'
import type { Calls } from '../../trace/calls/service.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import { createReplyBudget } from '../../trace/collect-reply.ts'
import type { Costs } from '../../trace/costs/service.ts'
import { projectIdOf } from '../../trace/project-path-wire.ts'
import { type Page, pageOf } from '../../trace/query-language/page.ts'
import type { Refs } from '../../trace/refs/service.ts'
import { yielding } from '../../yielding.ts'
import { opNames, PREDICT_AND_SCORE_NAMES } from '../evaluation-runs/evaluation-calls.ts'
import { createRowFilter } from './row-filter.ts'
import { createRowOrder } from './row-order.ts'
import { compare, pageOfRows, type RowOfTrials, type ShownRow, sortTrials } from './sorted-trials.ts'
import { createSummaries } from './summary.ts'
import { createTrialCosts, type TrialCosts } from './trial-costs.ts'
import { trialErrors } from './trial-errors.ts'
import { createTrialReading, type ReadTrial, type TrialOptions } from './trials.ts'
import type * as wire from './wire.ts'

/** Evaluations in one request: as many as a filter takes ids. */
const EVALUATIONS_MAX = 1000

/** Trials fetched at once, or one larger row: their ids are sent to the database with the query. */
const PER_FETCH = { count: 2000, bytes: 0 }

const UNRESOLVED = 'Some refs to rows of datasets lead nowhere: raw_data_row is the ref itself there'

/**
 * Results of evaluations, example by example. First only the positions of trials are read; then the payloads of the
 * rows that are shown.
 */
export interface EvalResults {
  query(req: wire.EvalResultsReq, context: CallContext): Promise<wire.EvalResultsRes>
}

export function createEvalResults(deps: {
  traces: TraceDb
  calls: Calls
  refs: Pick<Refs, 'resolve'>
  costs: Pick<Costs, 'priceLists'>
}): EvalResults {
  const { traces, refs, costs } = deps
  const rowFilter = createRowFilter(deps)
  const rowOrder = createRowOrder(deps)
  const trials = createTrialReading(deps)
  const summaries = createSummaries(deps)

  /** The rows with the results of their trials, in their order. @throws 413 for more than a reply can hold. */
  async function readRows(
    rows: readonly ShownRow[],
    { req, projectId, trialCosts, context }: Asked,
    onPayload: (chars: number) => void,
  ): Promise<wire.Row[]> {
    const options: TrialOptions = {
      projectId,
      children: req.include_predict_and_score_children,
      examples: req.include_raw_data_rows,
      errors: req.include_errors,
      onPayload,
      context,
    }
    const found: wire.Row[] = []
    for (const batch of inBatches(rows, PER_FETCH, ({ ids }) => ({ count: ids.length, bytes: 0 }))) {
      const ids = batch.flatMap((row) => row.ids)
      const read = await trials.read(ids, options)
      if (trialCosts !== undefined)
        for await (const { trial, used } of yielding(read.values()))
          trial.total_cost = await trialCosts.costOf(used.usage, used.startedAt)
      for (const row of batch) found.push(rowOf(row, read))
    }
    return found
  }

  async function shownRows(page: readonly ShownRow[], asked: Asked) {
    const { req, projectId } = asked
    const onPayload = createReplyBudget()
    const rows = await readRows(page, asked, onPayload)
    const isResolved = req.include_raw_data_rows && req.resolve_row_refs
    return { rows, warnings: isResolved ? await resolveRows(refs, rows, { projectId, onPayload }) : [] }
  }

  /** Filtering, sorting and summaries of rows need the positions of all trials. */
  async function querySorted(asked: Asked): Promise<wire.EvalResultsRes> {
    const { req, roots, selection, context, page } = asked
    const sorted = await sortTrials(traces, selection, context.signal)
    const chosen = await rowFilter.filtered(sorted, selection, asked)
    const errors = req.include_errors ? await trialErrors(traces, selection, context.signal) : undefined
    const reply: wire.EvalResultsRes = { rows: [], total_rows: 0, summary: null, warnings: [] }
    if (req.include_rows) {
      const wanted = req.require_intersection ? inAll(chosen, roots) : chosen
      const ordered = await rowOrder.sorted(wanted, selection, { ...asked, errors })
      const end = page.limit === undefined ? undefined : page.offset + page.limit
      const shown = ordered.slice(page.offset, end).map(({ digest, trials: own }) => ({
        digest,
        ids: own.map(({ id }) => id),
      }))
      reply.total_rows = ordered.length
      Object.assign(reply, await shownRows(shown, asked))
    }
    if (req.include_summary) {
      const isInAll = req.summary_require_intersection ?? req.require_intersection
      reply.summary = await summaries.of(isInAll ? inAll(chosen, roots) : chosen, { ...asked, errors })
    }
    return reply
  }

  async function query(req: wire.EvalResultsReq, context: CallContext): Promise<wire.EvalResultsRes> {
    const projectId = projectIdOf(req)
    const roots = rootsOf(req)
    const page = pageOf(req)
    const filter = { parent_ids: roots, op_names: opNames(projectId, PREDICT_AND_SCORE_NAMES) }
    const selection = { project_id: projectId, filter }
    const trialCosts = req.include_costs ? createTrialCosts(costs, projectId) : undefined
    const asked = { req, projectId, roots, selection, page, trialCosts, context }
    const { limit, offset } = page
    const plain =
      isPlainPage(req) && limit
        ? await pageOfRows(traces, selection, { limit, offset }, context.signal)
        : undefined
    if (plain === undefined) return querySorted(asked)
    return { ...(await shownRows(plain.rows, asked)), total_rows: plain.total, summary: null }
  }

  return { query }
}

/** A request with derived values. */
interface Asked {
  req: wire.EvalResultsReq
  projectId: string
  /** The evaluations. */
  roots: string[]
  /** Of their trials. */
  selection: Selection
  page: Page
  /** Absent where no costs were requested. */
  trialCosts: TrialCosts | undefined
  context: CallContext
}

/** Whether rows are requested in their natural order: then not all trials need to be read. */
function isPlainPage(req: wire.EvalResultsReq): boolean {
  return (
    req.include_rows &&
    !req.include_summary &&
    !req.require_intersection &&
    !req.filters?.length &&
    !req.sort_by?.length
  )
}

/** Wire: both names mean calls of evaluations; twice the same is once. @throws 400 for too many. */
function rootsOf(req: wire.EvalResultsReq): string[] {
  const roots = [...new Set([...(req.evaluation_call_ids ?? []), ...(req.evaluation_run_ids ?? [])])]
  if (roots.length > EVALUATIONS_MAX) throw invalidRequest(`At most ${EVALUATIONS_MAX} evaluations at once`)
  return roots
}

/** Replaces refs by their rows, each of which `onPayload` counts before; returns warnings. */
async function resolveRows(
  refs: Pick<Refs, 'resolve'>,
  rows: readonly wire.Row[],
  { projectId, onPayload }: { projectId: string; onPayload: (chars: number) => void },
): Promise<string[]> {
  const behind = rows.flatMap((row) => {
    const ref = row.raw_data_row?.text.startsWith('"weave:') ? String(row.raw_data_row.value()) : undefined
    return ref === undefined ? [] : [{ row, ref }]
  })
  const found = await refs.resolve(
    projectId,
    behind.map(({ ref }) => ref),
  )
  for (const { ref } of behind) onPayload(found.get(ref)?.text.length ?? 0)
  for (const { row, ref } of behind) row.raw_data_row = found.get(ref) ?? row.raw_data_row
  return behind.some(({ ref }) => !found.has(ref)) ? [UNRESOLVED] : []
}

function inAll(rows: RowOfTrials[], roots: readonly string[]): RowOfTrials[] {
  return rows.filter(({ trials }) => new Set(trials.map(({ root }) => root)).size === roots.length)
}

/** A row with its trials in the order in which they began. */
function rowOf({ digest, ids }: ShownRow, read: ReadonlyMap<string, ReadTrial>): wire.Row {
  const found = ids.flatMap((id) => read.get(id) ?? []).sort(byStart)
  const evaluations = [...Map.groupBy(found, ({ root }) => root)]
  return {
    row_digest: digest,
    raw_data_row: found.find(({ example }) => example !== null)?.example ?? null,
    evaluations: evaluations.map(([evaluation_call_id, own]) => ({
      evaluation_call_id,
      trials: own.map(({ trial }) => trial),
    })),
  }
}

function byStart(a: ReadTrial, b: ReadTrial): number {
  const [ours, theirs] = [a.trial.predict_and_score_call_id, b.trial.predict_and_score_call_id]
  return compare(a.startedAt, b.startedAt) || compare(ours, theirs)
}
