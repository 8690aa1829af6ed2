import { messageOf, tooLarge } from '../errors.ts'
import { derivedId } from '../ids.ts'
import { JsonText, stringify } from '../json/lossless-json.ts'
import { nowIso } from '../time.ts'
import { type CallPart, endPart, startPart } from '../trace/calls/write/parts.ts'

/**
 * Characters of the payloads of calls of one piece of work, besides the largest one: they are in memory until they are
 * written, and the call of each of a hundred scorers has the whole row.
 */
const CHARS_MAX = 32 * 1024 * 1024

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
  /**
   * Runs work as a call below this one; what it throws becomes the call's exception, and is rethrown. @throws 413,
   * after the same, where the calls together have too many characters; the work is not begun then
   */
  call<Result>(call: RecordedCall, work: (own: RecordedCalls) => Promise<Outcome<Result>>): Promise<Result>
  /** The calls to write. */
  readonly parts: CallPart[]
}

export function recordCalls(under: RecordedUnder): RecordedCalls {
  return recordedBelow(under, under.parent_id, { parts: [], addChars: charsBudget() })
}

/** What all calls of one piece of work share. */
interface Recording {
  parts: CallPart[]
  /** @throws 413 */
  addChars(chars: number): void
}

function charsBudget(): (chars: number) => void {
  let total = 0
  let largest = 0
  return (chars) => {
    const others = total + chars - Math.max(largest, chars)
    if (others > CHARS_MAX)
      throw tooLarge(
        `The calls that record this have more than ${CHARS_MAX} characters together, besides the largest payload`,
      )
    total += chars
    largest = Math.max(largest, chars)
  }
}

function recordedBelow(under: RecordedUnder, id: string | undefined, recording: Recording): RecordedCalls {
  const { parts, addChars } = recording
  const totals = noTotals()
  return {
    id,
    totals,
    parts,
    async call({ op_name, inputs, seed }, work) {
      const { project_id, trace_id, user } = under
      const own = recordedBelow(under, derivedId(under.base, seed), recording)
      const named = { project_id, id: own.id ?? '' }
      const start = {
        ...named,
        trace_id,
        parent_id: id,
        op_name,
        started_at: nowIso(),
        attributes: new JsonText(stringify(under.attributes)),
      }
      const begin = (shown: string) =>
        parts.push(startPart({ ...start, inputs: new JsonText(shown) }, user, []))
      const end = ({ output, exception }: { output?: JsonText; exception?: string }) => {
        own.totals.status_counts[exception === undefined ? 'success' : 'error']++
        addTotals(totals, own.totals)
        const summary = new JsonText(stringify(summaryOf(own.totals)))
        parts.push(endPart({ ...named, ended_at: nowIso(), output, exception, summary }, []))
      }
      const shown = stringify(inputs)
      try {
        addChars(shown.length)
      } catch (error) {
        begin('{}')
        end({ exception: messageOf(error) })
        throw error
      }
      begin(shown)
      try {
        const { result, output, usage = {} } = await work(own)
        for (const [model, counts] of Object.entries(usage))
          addUsage(own.totals, model, { requests: 1, ...counts })
        const answered = stringify(output)
        addChars(answered.length)
        end({ output: new JsonText(answered) })
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
