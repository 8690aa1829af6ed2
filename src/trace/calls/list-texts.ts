import { unavailable } from '../../errors.ts'
import type { TraceDb } from '../../stores/trace-db/port.ts'
import { createAskedLists } from './asked-lists.ts'
import { createFinding, type FoundCalls } from './finding.ts'
import type { LineCache } from './line-cache.ts'
import type { List } from './list.ts'
import { createPlaces } from './places.ts'
import { createPortionTexts } from './portion-texts.ts'
import type * as queries from './queries.ts'
import { createShortLists } from './short-lists.ts'

/** Long lists that are read at once: each holds its ids and some portions of its payloads while its client reads slowly. */
const LONG_LISTS_MAX = 32

/** A list that is no longer is read without a place among those. */
const SHORT_MAX = 100

/** Reads lists of calls as the JSON texts of the wire. */
export function createListTexts(deps: { traces: TraceDb; lines: LineCache }) {
  const places = createPlaces(deps)
  const shortLists = createShortLists({ ...deps, places })
  const finding = createFinding(deps)
  const portionTexts = createPortionTexts(deps)
  const asked = createAskedLists()
  let longLists = 0

  /** A list at a place, and whether the list is no longer than that. */
  async function textsAt(list: List, place: queries.Within, isAgain: boolean) {
    const { limit } = list.page
    const atOnce = isShort(list, place) && !isAgain ? await shortLists.at(list, place) : undefined
    if (atOnce !== undefined) return { texts: atOnce.texts, isFull: atOnce.calls === limit }
    const calls = await finding.callsAt(list, place)
    return { texts: portionTexts.ofCalls(list, calls, { isAgain }), isFull: hasAsMany(calls, limit) }
  }

  /** Keeps a place among the long lists while one is read. @throws 503 where there is none. */
  function takePlace(): Disposable {
    if (longLists >= LONG_LISTS_MAX) throw unavailable('Too many long lists are being read', 5)
    longLists++
    return { [Symbol.dispose]: () => void longLists-- }
  }

  /**
   * A short list is read by one query; any other first as its ids in order, then as their rows, some at a time: of a list of any
   * length, only ids and three portions of its payloads are in memory. No query stays open while the client reads: the
   * database answers few at once. A list that is asked for again is read by its ids too, since its lines may still be here.
   */
  async function* textsOfList(list: List): AsyncGenerator<Uint8Array> {
    const isAgain = asked.again(list)
    for await (const place of places.of(list)) {
      if (place.ids?.length === 0) return
      using _held = isShort(list, place) ? undefined : takePlace()
      const { texts, isFull } = await textsAt(list, place, isAgain)
      if (isFull || place.bound === undefined) return yield* texts
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

function isShort({ page }: List, { ids }: queries.Within): boolean {
  return ids !== undefined || Number(page.limit) <= SHORT_MAX
}

function hasAsMany(calls: FoundCalls, limit: number | undefined): boolean {
  if (limit === undefined) return false
  return (
    limit === 0 ||
    !calls[Symbol.iterator]()
      .drop(limit - 1)
      .next().done
  )
}
