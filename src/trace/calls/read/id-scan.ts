import { tooLarge } from '../../../errors.ts'
import { rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { readRowBinary, wholeRows } from '../../../stores/trace-db/row-binary.ts'
import type { List } from './list.ts'
import type { Prefilter, Step } from './plan.ts'
import * as queries from './queries.ts'
import type { FoundCall } from './ranges.ts'

/** The ids of a list are in memory until its end, some 54 bytes each: more than four million calls. */
const IDS_BYTES_MAX = 256 * 1024 * 1024

/** Calls of a list in its order, kept as the rows they come in, which take a third of the memory of objects. */
export interface FoundCalls {
  [Symbol.iterator](): IteratorObject<FoundCall>
}

/** Finds the calls of a list, in its order, before any payload is read. */
export interface IdScan {
  /** The calls of a list within a scope. @throws 413 for more than may be in memory. */
  callsIn(list: List, scope: queries.Scope, sortBy: Step['sortBy']): Promise<FoundCalls>
  /** Ids that include those of a list; undefined for more than `idsMax`, or where there is no prefilter. */
  prefilteredIds(
    list: Pick<List, 'selection' | 'context'>,
    prefilter: Prefilter,
  ): Promise<readonly string[] | undefined>
  /** The ids of a list, as the database finds them. */
  ids(list: List): AsyncGenerator<string>
}

export function createIdScan({ traces }: { traces: TraceDb }): IdScan {
  async function callsIn(list: List, scope: queries.Scope, sortBy: Step['sortBy']): Promise<FoundCalls> {
    const { selection, page, context } = list
    const pieces: Uint8Array[] = []
    let bytes = 0
    const query = queries.selectIds(selection, page, { scope, sortBy })
    for await (const piece of wholeRows(traces, query, context.signal)) {
      bytes += piece.byteLength
      if (bytes > IDS_BYTES_MAX)
        throw tooLarge('The list has too many calls: read it in parts, with limit and filter')
      pieces.push(piece)
    }
    const calls = { [Symbol.iterator]: () => foundCalls(pieces) }
    const isUnsure = sortBy === 'truncated' && calls[Symbol.iterator]().some((call) => call.isUnsure)
    return isUnsure ? callsIn(list, scope, 'whole') : calls
  }

  async function prefilteredIds(
    { selection, context }: Pick<List, 'selection' | 'context'>,
    { idsMax, usesWordIndex }: Prefilter,
  ): Promise<readonly string[] | undefined> {
    // One row past the limit shows that more exist, mostly soon; one call may have several rows.
    for (const query of queries.selectsPrefiltered(selection, { limit: idsMax + 1, usesWordIndex })) {
      const rows = await rowsOf(traces.query<{ id: string }>(query, context.signal))
      if (rows.length <= idsMax) return [...new Set(rows.map(({ id }) => id))]
    }
    return undefined
  }

  async function* ids({ selection, page, context }: List): AsyncGenerator<string> {
    const query = queries.selectIds(selection, page, { scope: {}, sortBy: 'whole' })
    for await (const piece of wholeRows(traces, query, context.signal))
      for (const { id } of foundCalls([piece])) yield id
  }

  return { callsIn, prefilteredIds, ids }
}

function* foundCalls(pieces: readonly Uint8Array[]): Generator<FoundCall & { isUnsure: boolean }> {
  for (const piece of pieces)
    for (const row = readRowBinary(piece); !row.done(); )
      yield { id: row.text(), bytes: row.count(), startedAt: row.micros(), isUnsure: row.flag() }
}
