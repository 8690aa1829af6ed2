import { invalidRequest } from '../errors.ts'
import type { LeftOut } from './wire.ts'

/** Different reasons that a reply names: reasons quote names and bounds of the request, so there are few. */
const REASONS_MAX = 100

/** Examples that the message of a refusal has room for. */
const SHOWN_MAX = 5

/** Counts the calls that do not become rows, by reason. */
export interface Tally {
  add(reason: string, example_call_id: string): void
  all(): LeftOut[]
  /** The error message when no row is left. */
  nothing(): Error
}

export function createTally(): Tally {
  const byReason = new Map<string, LeftOut>()

  function all(): LeftOut[] {
    return [...byReason.values()].sort((a, b) => b.count - a.count)
  }

  function add(reason: string, example_call_id: string): void {
    const known = byReason.get(reason)
    if (known !== undefined) known.count++
    else if (byReason.size < REASONS_MAX) byReason.set(reason, { reason, count: 1, example_call_id })
  }

  function nothing(): Error {
    const reasons = all().map(
      ({ reason, count, example_call_id }) => `${count} × ${reason} (such as call ${example_call_id})`,
    )
    const why = reasons.length === 0 ? 'there is no call to collect' : reasons.slice(0, SHOWN_MAX).join('; ')
    return invalidRequest(`Nothing was collected: ${why}`)
  }

  return { add, all, nothing }
}
