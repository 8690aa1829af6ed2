import { tooLarge, unavailable } from '../../errors.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { readRowBinary } from '../../stores/trace-db/row-binary.ts'
import type { FoundCall } from './call-range.ts'
import { hasExcerpt } from './fields.ts'
import type { List } from './list.ts'
import { createPortionTexts } from './portion-texts.ts'
import * as queries from './queries.ts'
import { createShortLists } from './short-lists.ts'

/** The ids of a list are in memory until its end, some 54 bytes each: more than four million calls. */
const IDS_BYTES_MAX = 256 * 1024 * 1024

/** Long lists that are read at once: each holds some portions of its payloads while its client reads slowly. */
const LONG_LISTS_MAX = 32

/** Reads lists of calls as the JSON texts of the wire. */
export function createListTexts({ traces }: { traces: TraceDb }) {
  const shortLists = createShortLists({ traces })
  const portionTexts = createPortionTexts({ traces })
  let longLists = 0

  /**
   * The calls of a list, in order, kept as the rows they come in, which take a third of the memory of objects. An order by
   * payloads is looked for in their excerpts first.
   * @throws 413 for more than may be in memory.
   */
  async function find(list: List, keys = keysOf(list)): Promise<Iterable<FoundCall>> {
    const { selection, page, context } = list
    const pieces: Uint8Array[] = []
    let bytes = 0
    const query = queries.selectIds(selection, page, { bound: undefined, keys })
    for await (const piece of traces.rowBinary(query, context.signal)) {
      bytes += piece.byteLength
      if (bytes > IDS_BYTES_MAX)
        throw tooLarge('The list has too many calls: read it in parts, with limit and filter')
      pieces.push(piece)
    }
    const calls = { [Symbol.iterator]: () => foundCalls(pieces) }
    return keys === 'excerpts' && calls[Symbol.iterator]().some(({ isUnsure }) => isUnsure)
      ? find(list, 'whole')
      : calls
  }

  /** The ids of a list alone, as the database finds them. */
  async function* idsOf({ selection, page, context }: List): AsyncGenerator<string> {
    const query = queries.selectIds(selection, page, { bound: undefined, keys: 'whole' })
    for await (const piece of traces.rowBinary(query, context.signal))
      for (const { id } of foundCalls([piece])) yield id
  }

  /**
   * First ids in order, then their rows, some at a time: of a list of any length, only ids and three portions of its payloads
   * are in memory. No query stays open while the client reads: the database answers few at once.
   */
  async function* textsOfList(list: List): AsyncGenerator<Uint8Array> {
    const few = await shortLists.atOnce(list)
    if (few !== undefined) return yield* few
    if (longLists >= LONG_LISTS_MAX) throw unavailable('Too many long lists are being read', 5)
    longLists++
    try {
      yield* portionTexts.ofCalls(list, await find(list))
    } finally {
      longLists--
    }
  }

  return {
    /** The calls of a list, in pieces of whole lines, one a call. */
    ofList: textsOfList,
    idsOf,
    /** Calls by their ids. */
    ofIds: portionTexts.ofIds,
  }
}

function keysOf({ page }: List): 'excerpts' | 'whole' {
  return page.sort_by.some(({ field }) => hasExcerpt(field)) ? 'excerpts' : 'whole'
}

function* foundCalls(pieces: readonly Uint8Array[]): Generator<FoundCall & { isUnsure: boolean }> {
  for (const piece of pieces)
    for (const row = readRowBinary(piece); !row.done(); )
      yield { id: row.text(), bytes: row.count(), startedAt: row.micros(), isUnsure: row.flag() }
}
