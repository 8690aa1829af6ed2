import { firstOf, type TraceDb } from '../../stores/trace-db/port.ts'
import * as queries from './queries.ts'

/** An old answer does no harm, since it only chooses between two ways of looking. */
const REMEMBERED_MS = 30_000

/** Below this, looking at every call takes less time than asking where to look. */
const LARGE_ROWS = 50_000

/** Whether there are so many calls that a list should not look at all of them. */
export function createTableSize({ traces }: { traces: TraceDb }): { isLarge: () => Promise<boolean> } {
  let known: { isLarge: boolean; at: number } | undefined
  return {
    async isLarge() {
      if (known === undefined || performance.now() - known.at > REMEMBERED_MS) {
        const size = await firstOf(traces.query<{ total_rows: number }>(queries.selectTableSize()))
        known = { isLarge: (size?.total_rows ?? 0) >= LARGE_ROWS, at: performance.now() }
      }
      return known.isLarge
    },
  }
}
