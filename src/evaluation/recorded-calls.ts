import { messageOf } from '../errors.ts'
import { derivedId } from '../ids.ts'
import { JsonText, stringify } from '../lossless-json.ts'
import { nowIso } from '../time.ts'
import { type CallPart, endPart, startPart } from '../trace/calls/write/parts.ts'

/** Parent of the calls, and their user. */
export interface RecordedUnder {
  project_id: string
  trace_id: string
  parent_id: string | undefined
  /** A UUIDv7; the ids of the calls follow from it. */
  base: string
  /** `attributes` of every call. */
  attributes: object
  user: string
}

/** A call before it has an outcome. */
export interface RecordedCall {
  op_name: string
  inputs: object
  /** The id is derived from it and is always the same: work that is repeated after a crash writes the same calls. */
  seed: string
}

/** The outcome of a call. */
export interface Outcome<Result> {
  result: Result
  output: unknown
  /** Tokens by model, as `summary.usage` has them. */
  usage?: Record<string, object> | undefined
}

/** Tokens and statuses of a call and of all below it. Wire: clients add them up on the way to the root. */
export interface Totals {
  usage: Record<string, Record<string, number>>
  status_counts: { success: number; error: number }
}

/** The calls of one piece of work, written all at once when it is done. */
export interface RecordedCalls {
  readonly id: string | undefined
  readonly totals: Totals
  /** Runs work as a call below this one; what it throws becomes the call's exception, and is rethrown. */
  call<Result>(call: RecordedCall, work: (own: RecordedCalls) => Promise<Outcome<Result>>): Promise<Result>
  /** The calls to write. */
  readonly parts: CallPart[]
}

export function recordCalls(under: RecordedUnder): RecordedCalls {
  return recordedBelow(under, under.parent_id, [])
}

function recordedBelow(under: RecordedUnder, id: string | undefined, parts: CallPart[]): RecordedCalls {
  const totals = noTotals()
  return {
    id,
    totals,
    parts,
    async call({ op_name, inputs, seed }, work) {
      const { project_id, trace_id, user } = under
      const own = recordedBelow(under, derivedId(under.base, seed), parts)
      const named = { project_id, id: own.id ?? '' }
      const start = {
        ...named,
        trace_id,
        parent_id: id,
        op_name,
        started_at: nowIso(),
        attributes: new JsonText(stringify(under.attributes)),
        inputs: new JsonText(stringify(inputs)),
      }
      parts.push(startPart(start, user, []))
      const end = ({ output, exception }: { output?: JsonText; exception?: string }) => {
        own.totals.status_counts[exception === undefined ? 'success' : 'error']++
        addTotals(totals, own.totals)
        const summary = new JsonText(stringify(summaryOf(own.totals)))
        parts.push(endPart({ ...named, ended_at: nowIso(), output, exception, summary }, []))
      }
      try {
        const { result, output, usage = {} } = await work(own)
        for (const [model, counts] of Object.entries(usage))
          addUsage(own.totals, model, { requests: 1, ...counts })
        end({ output: new JsonText(stringify(output)) })
        return result
      } catch (error) {
        end({ exception: messageOf(error) })
        throw error
      }
    },
  }
}

export function noTotals(): Totals {
  return { usage: noNames(), status_counts: { success: 0, error: 0 } }
}

/** `summary` of a call with these totals. */
export function summaryOf({ usage, status_counts }: Totals): object {
  return Object.keys(usage).length === 0 ? { status_counts } : { usage, status_counts }
}

/** Adds the counts of a call's `summary`; values that are not numbers are skipped. */
export function addTotals(
  sum: Totals,
  { usage, status_counts }: { usage: Record<string, object>; status_counts: Totals['status_counts'] },
): void {
  for (const [model, counts] of Object.entries(usage)) addUsage(sum, model, counts)
  sum.status_counts.success += status_counts.success
  sum.status_counts.error += status_counts.error
}

/** Without what objects inherit: clients choose the names, and a model may be called `constructor`. */
function noNames<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>
}

function addUsage({ usage }: Totals, model: string, counts: object): void {
  usage[model] ??= noNames()
  const sum = usage[model]
  for (const [name, count] of Object.entries(counts)) {
    if (typeof count === 'number') sum[name] = (sum[name] ?? 0) + count
  }
}
