import { tooLarge } from '../../errors.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary } from '../../stores/trace-db/row-binary.ts'
import type { FoundCall } from './call-range.ts'
import { hasExcerpt } from './fields.ts'
import type { List } from './list.ts'
import * as queries from './queries.ts'

/** The ids of a list are in memory until its end, some 54 bytes each: more than four million calls. */
const IDS_BYTES_MAX = 256 * 1024 * 1024

/** Calls of a list in its order, kept as the rows they come in, which take a third of the memory of objects. */
export interface FoundCalls {
  [Symbol.iterator](): IteratorObject<FoundCall>
}

/** Finds the calls of a list, in its order, before any payload is read. */
export function createFinding({ traces }: { traces: TraceDb }) {
  async function look(list: List, within: queries.Within, keys: 'excerpts' | 'whole'): Promise<FoundCalls> {
    const { selection, page, context } = list
    const pieces: Uint8Array[] = []
    let bytes = 0
    const query = queries.selectIds(selection, page, { within, keys })
    for await (const piece of traces.rowBinary(query, context.signal)) {
      bytes += piece.byteLength
      if (bytes > IDS_BYTES_MAX)
        throw tooLarge('The list has too many calls: read it in parts, with limit and filter')
      pieces.push(piece)
    }
    const calls = { [Symbol.iterator]: () => foundCalls(pieces) }
    const isUnsure = keys === 'excerpts' && calls[Symbol.iterator]().some((call) => call.isUnsure)
    return isUnsure ? look(list, within, 'whole') : calls
  }

  return {
    /**
     * The calls of a list at a place. An order by payloads is looked for in their excerpts first, unless it is of few calls.
     * @throws 413 for more than may be in memory.
     */
    callsAt(list: List, place: queries.Within): Promise<FoundCalls> {
      const isByPayload = list.page.sort_by.some(({ field }) => hasExcerpt(field))
      return look(list, place, isByPayload && place.ids === undefined ? 'excerpts' : 'whole')
    },

    /** The ids of a list alone, as the database finds them. */
    async *idsOf({ selection, page, context }: List): AsyncGenerator<string> {
      const query = queries.selectIds(selection, page, { within: {}, keys: 'whole' })
      for await (const piece of traces.rowBinary(query, context.signal))
        for (const { id } of foundCalls([piece])) yield id
    },
  }
}

function* foundCalls(pieces: readonly Uint8Array[]): Generator<FoundCall & { isUnsure: boolean }> {
  for (const piece of pieces)
    for (const row = readRowBinary(piece); !row.done(); )
      yield { id: row.text(), bytes: row.count(), startedAt: row.micros(), isUnsure: row.flag() }
}
