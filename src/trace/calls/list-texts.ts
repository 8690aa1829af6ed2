import { unavailable } from '../../errors.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createAskedLists } from './asked-lists.ts'
import { createFinding } from './finding.ts'
import type { LineCache } from './line-cache.ts'
import type { List } from './list.ts'
import { createPlaces } from './places.ts'
import { createPortionTexts } from './portion-texts.ts'
import { createShortLists } from './short-lists.ts'

/** Long lists that are read at once: each holds its ids and some portions of its payloads while its client reads slowly. */
const LONG_LISTS_MAX = 32

/** A list that is no longer is read without a place among those. */
const SHORT_MAX = 100

/** Reads lists of calls as the JSON texts of the wire. */
export function createListTexts(deps: { traces: TraceDb; lines: LineCache }) {
  const places = createPlaces(deps)
  const shortLists = createShortLists({ ...deps, places })
  const finding = createFinding({ ...deps, places })
  const portionTexts = createPortionTexts(deps)
  const asked = createAskedLists()
  let longLists = 0

  /**
   * A short list is read by one query; any other first as its ids in order, then as their rows, some at a time: of a list of any
   * length, only ids and three portions of its payloads are in memory. No query stays open while the client reads: the
   * database answers few at once. A list that is asked for again is read by its ids too, since its lines may still be here.
   */
  async function* textsOfList(list: List): AsyncGenerator<Uint8Array> {
    const isAgain = asked.again(list)
    const candidates = await places.candidatesOf(list)
    if (candidates?.length === 0) return
    const isShort = candidates !== undefined || Number(list.page.limit) <= SHORT_MAX
    const atOnce = isShort && !isAgain ? await shortLists.atOnce(list, candidates) : undefined
    if (atOnce !== undefined) return yield* atOnce
    if (isShort)
      return yield* portionTexts.ofCalls(list, await finding.callsOf(list, candidates), { isAgain })
    if (longLists >= LONG_LISTS_MAX) throw unavailable('Too many long lists are being read', 5)
    longLists++
    try {
      yield* portionTexts.ofCalls(list, await finding.callsOf(list, candidates), { isAgain })
    } finally {
      longLists--
    }
  }

  return {
    /** The calls of a list, in pieces of whole lines, one a call. */
    ofList: textsOfList,
    idsOf: finding.idsOf,
    /** Calls by their ids. */
    ofIds: (list: List, ids: readonly string[]) =>
      portionTexts.ofIds(list, ids, { isAgain: asked.again(list) }),
  }
}
