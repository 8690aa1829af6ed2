import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import type { Calls } from '../calls/service.ts'
import { collectReply } from '../collect-reply.ts'
import { opNames, PREDICT_AND_SCORE_NAMES } from '../evaluation-runs/evaluation-calls.ts'
import { portions, type Size } from '../portions.ts'
import { projectIdOf } from '../project-path-wire.ts'
import { pageOf } from '../query-language/page.ts'
import type { Refs } from '../refs/service.ts'
import { createChoosing } from './choosing.ts'
import { type PlacedRow, placePage, placeTrials } from './places.ts'
import { createSummary } from './summary.ts'
import { createTrialReading, type ReadTrial, type TrialOptions } from './trials.ts'
import type * as wire from './wire.ts'

/** Evaluations in one request: as many as a filter takes ids. */
const EVALUATIONS_MAX = 1000

const PER_FETCH = {
  /** Payloads that are in memory at once beside those of the reply, but for a single larger row. */
  bytes: 8 * 1024 * 1024,
  /** Trials fetched at once: their ids travel to the database with the query. */
  count: 2000,
}

const UNRESOLVED = 'Some refs to rows of datasets lead nowhere: raw_data_row is the ref itself there'

export type EvalResults = ReturnType<typeof createEvalResults>

/**
 * What evaluations found, example by example. First only what places each trial is read; then the payloads of the rows
 * that are shown, some megabytes at a time.
 */
export function createEvalResults(deps: { traces: TraceDb; calls: Calls; refs: Pick<Refs, 'resolve'> }) {
  const { traces, calls, refs } = deps
  const choosing = createChoosing(deps)
  const trials = createTrialReading(deps)

  /** The rows with what their trials say, in their order. */
  async function* readRows(rows: readonly PlacedRow[], options: TrialOptions): AsyncGenerator<wire.Row> {
    for (const portion of portions(rows, PER_FETCH, sizeOf)) {
      const ids = portion.flatMap((row) => row.trials.map(({ id }) => id))
      const read = await trials.read(ids, options)
      for (const row of portion) yield rowOf(row, read)
    }
  }

  /** Replaces refs by the rows that they lead to; returns what to warn of. */
  async function resolveRows(projectId: string, rows: readonly wire.Row[]): Promise<string[]> {
    const behind = rows.flatMap((row) => {
      const ref = row.raw_data_row?.text.startsWith('"weave:') ? String(row.raw_data_row.value()) : undefined
      return ref === undefined ? [] : [{ row, ref }]
    })
    const found = await refs.resolve(
      projectId,
      behind.map(({ ref }) => ref),
    )
    for (const { row, ref } of behind) row.raw_data_row = found.get(ref) ?? row.raw_data_row
    return behind.some(({ ref }) => !found.has(ref)) ? [UNRESOLVED] : []
  }

  async function shownRows(placed: readonly PlacedRow[], req: wire.EvalResultsReq, options: TrialOptions) {
    const rows = await collectReply(readRows(placed, options), charsOf)
    const isResolved = req.include_raw_data_rows && req.resolve_row_refs
    return { rows, warnings: isResolved ? await resolveRows(options.projectId, rows) : [] }
  }

  async function summarize(rows: readonly PlacedRow[], roots: string[], options: TrialOptions) {
    const summary = createSummary()
    for await (const row of readRows(rows, { ...options, examples: false })) {
      for (const { evaluation_call_id, trials: own } of row.evaluations)
        for (const trial of own) summary.add(evaluation_call_id, trial)
    }
    const { projectId: project_id, context } = options
    const req = { project_id, filter: { call_ids: roots }, columns: ['inputs'] }
    return summary.of(rows.length, await rowsOf(await calls.list(req, context)))
  }

  return {
    async query(req: wire.EvalResultsReq, context: CallContext): Promise<wire.EvalResultsRes> {
      const projectId = projectIdOf(req)
      const roots = rootsOf(req)
      const { limit, offset } = pageOf(req)
      const filter = { parent_ids: roots, op_names: opNames(projectId, PREDICT_AND_SCORE_NAMES) }
      const selection = { project_id: projectId, filter }
      const options = {
        projectId,
        children: req.include_predict_and_score_children,
        costs: req.include_costs,
        examples: req.include_raw_data_rows,
        context,
      }
      const page =
        isPlainPage(req) && limit
          ? await placePage(traces, selection, { limit, offset }, context.signal)
          : undefined
      if (page !== undefined)
        return { ...(await shownRows(page.rows, req, options)), total_rows: page.total, summary: null }
      const placed = await placeTrials(traces, selection, context.signal)
      const chosen = await choosing.filtered(placed, selection, { req, context })
      const reply: wire.EvalResultsRes = { rows: [], total_rows: 0, summary: null, warnings: [] }
      if (req.include_rows) {
        const wanted = req.require_intersection ? inAll(chosen, roots) : chosen
        const ordered = await choosing.sorted(wanted, selection, { req, context })
        const end = limit === undefined ? undefined : offset + limit
        reply.total_rows = ordered.length
        Object.assign(reply, await shownRows(ordered.slice(offset, end), req, options))
      }
      if (req.include_summary) {
        const isInAll = req.summary_require_intersection ?? req.require_intersection
        reply.summary = await summarize(isInAll ? inAll(chosen, roots) : chosen, roots, options)
      }
      return reply
    },
  }
}

/** Whether rows are asked for as they come: nothing then needs to be known of all trials. */
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

function inAll(rows: PlacedRow[], roots: readonly string[]): PlacedRow[] {
  return rows.filter(({ trials }) => new Set(trials.map(({ root }) => root)).size === roots.length)
}

/** Of the trials of a row. */
function sizeOf({ trials }: PlacedRow): Size {
  return { bytes: trials.reduce((sum, { bytes }) => sum + bytes, 0), count: trials.length }
}

function rowOf({ digest, trials }: PlacedRow, read: ReadonlyMap<string, ReadTrial>): wire.Row {
  const found = trials.flatMap(({ id, root }) => {
    const one = read.get(id)
    return one === undefined ? [] : [{ root, ...one }]
  })
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

function charsOf({ raw_data_row, evaluations }: wire.Row): number {
  const payloads = evaluations.flatMap(({ trials }) =>
    trials.map(({ model_output, scores }) => (model_output?.text.length ?? 0) + scores.text.length),
  )
  return payloads.reduce((sum, chars) => sum + chars, raw_data_row?.text.length ?? 0)
}
