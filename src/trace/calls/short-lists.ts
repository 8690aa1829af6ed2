import { isOutOfMemory, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { callTexts } from './call-text.ts'
import { hasExcerpt } from './fields.ts'
import { type List, shownCalls } from './list.ts'
import type { Places } from './places.ts'
import * as queries from './queries.ts'
import { isOfFamily } from './selection.ts'

/** A list whose calls take more memory than a query for a page should is not read by one. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024

/** Reads lists that are short by one query, since most of their time is planning. */
export function createShortLists({ traces, places }: { traces: TraceDb; places: Places }) {
  async function read(list: List, within: queries.Within): Promise<{ texts: Buffer[]; calls: number }> {
    const { selection, page, context } = list
    const shown = shownCalls(list)
    const query = queries.selectPage(selection, page, shown, { within, bytesMax: PAGE_BYTES_MAX })
    const rows = await rowsOf(traces.rowBinary(query, context.signal))
    const pieces = rows.map((piece) => callTexts(piece, shown))
    return {
      texts: pieces.map(({ texts }) => texts),
      calls: pieces.reduce((sum, { calls }) => sum + calls, 0),
    }
  }

  /** Whether one query does not look at too many calls for it. */
  async function isForOne({ req, page, selection }: List, { ids, bound }: queries.Within): Promise<boolean> {
    if (ids !== undefined) return !req.include_total_storage_size
    // In their excerpts it is found sooner than both queries take.
    if (page.sort_by.some(({ field }) => hasExcerpt(field))) return false
    return bound !== undefined || isOfFamily(selection) || !(await places.isLarge())
  }

  return {
    /** What is at a place; undefined where one query would look at too many calls, or they take more memory than it should. */
    async at(list: List, place: queries.Within): Promise<{ texts: Buffer[]; calls: number } | undefined> {
      if (!(await isForOne(list, place))) return undefined
      try {
        return await read(list, place)
      } catch (error) {
        if (!isOutOfMemory(error)) throw error
        return undefined
      }
    },
  }
}
