import { firstOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import * as queries from './queries.ts'

/** An old answer does no harm, since it only chooses between two plans. */
const REMEMBERED_MS = 30_000

/** Below this, scanning every call takes less time than computing a window. */
const LARGE_ROWS = 50_000

export interface TableSize {
  /** Whether there are too many calls for a list to scan all of them. */
  isLarge(): Promise<boolean>
}

export function createTableSize({ traces }: { traces: TraceDb }): TableSize {
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
