import { unavailable } from '../../../errors.ts'
import { entityOf } from '../../../fairness/fair-queue.ts'
import { createSharedSlots } from '../../../fairness/shared-slots.ts'
import { isOutOfMemory, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { wholeRows } from '../../../stores/trace-db/row-binary.ts'
import { renderRows } from '../render/by-server.ts'
import { isOfFamily } from '../sql/filter.ts'
import { createBatchReader, type KnownCalls } from './batches.ts'
import { createIdScan, type FoundCalls } from './id-scan.ts'
import { type List, shownCalls } from './list.ts'
import { planRead, type Source, type Step } from './plan.ts'
import * as queries from './queries.ts'
import type { TableSize } from './table-size.ts'
import { createWindowBounds } from './window-bounds.ts'

/**
 * Long lists that are read at once: each holds its ids and some batches of payloads while its client reads slowly. One
 * entity may read 32 while no other does (`src/fairness/shared-slots.ts`).
 */
const LONG_LISTS_MAX = 40

/** Memory limit of the query for a page; a page that exceeds it is read in batches. */
const PAGE_BYTES_MAX = 256 * 1024 * 1024

/** Answers lists of calls, from memory (`recent/`) or by executing their plans (`plan.ts`). */
export interface ListReader {
  /**
   * The calls of a list as JSON texts, one a line, in pieces of whole lines. Of a list of any length, only ids and two
   * batches of its payloads are in memory. No query stays open while the client reads: the database answers few at
   * once.
   * @throws 413 for more ids than may be in memory, 503 where the entity may read no more long lists at once
   */
  lines(list: List): AsyncGenerator<Uint8Array>
  /** Few calls by their ids, as such lines, in the order of the list. */
  linesOfIds(list: List, ids: readonly string[]): Promise<Buffer[]>
  /** The ids of a list, in its order. */
  ids(list: List): AsyncGenerator<string>
}

/** Lines of a step. */
interface Lines {
  lines: Iterable<Uint8Array> | AsyncIterable<Uint8Array>
  /** Whether they are as many as the list may have: counting reads all ids, and only a window is asked. */
  isFull(): boolean
}

/** Answers whole lists in the same way. */
export interface KnownLists extends KnownCalls {
  /** The calls of a list as JSON lines; undefined where only the database knows them. */
  lines(list: List): Buffer | undefined
  /** Whether it knows at least half of the calls of a project. */
  hasMost(projectId: string): boolean
}

interface Deps {
  traces: TraceDb
  recent: KnownLists
  tableSize: TableSize
}

export function createListReader({ traces, recent, tableSize }: Deps): ListReader {
  const windowBounds = createWindowBounds({ traces })
  const idScan = createIdScan({ traces })
  const batches = createBatchReader({ traces, recent })
  const slots = createSharedSlots(LONG_LISTS_MAX)

  async function* lines(list: List): AsyncGenerator<Uint8Array> {
    const known = recent.lines(list)
    if (known !== undefined) return yield known
    const plan = planRead(list, {
      isLargeTable: await tableSize.isLarge(),
      areCallsKnown: recent.hasMost(list.selection.project_id),
    })
    for await (const { step, scope } of scopedSteps(list, plan)) {
      if (scope.ids?.length === 0) return
      using _place = step.isLong ? takePlace(list.selection.project_id) : undefined
      const found = await linesOfStep(list, step, scope)
      if (step.source.kind !== 'window' || found.isFull()) return yield* found.lines
    }
  }

  /** The steps of a plan that are not skipped. */
  async function* scopedSteps(
    list: List,
    plan: readonly Step[],
  ): AsyncGenerator<{ step: Step; scope: queries.Scope }> {
    let areWindowsTooWide = false
    for (const step of plan) {
      const isWindow = step.source.kind === 'window'
      if (isWindow && areWindowsTooWide) continue
      const scope = await scopeOf(list, step.source)
      if (scope !== undefined) yield { step, scope }
      else areWindowsTooWide ||= isWindow
    }
  }

  /** Undefined where the step is to be skipped. */
  async function scopeOf(list: List, source: Source): Promise<queries.Scope | undefined> {
    switch (source.kind) {
      case 'ids':
        return { ids: source.ids }
      case 'prefilter': {
        const ids = await idScan.prefilteredIds(list, source)
        return ids && { ids }
      }
      case 'window': {
        const bound = await windowBounds.of(list, source.window)
        return bound && { bound }
      }
      case 'full scan':
        return {}
    }
  }

  async function linesOfStep(list: List, step: Step, scope: queries.Scope): Promise<Lines> {
    const isPage = step.shape === 'page' && !hasSpareCandidates(list, scope)
    const page = isPage ? await readPage(list, scope) : undefined
    if (page !== undefined) return page
    const calls = await idScan.callsIn(list, scope, step.sortBy)
    return { lines: batches.lines(list, calls), isFull: () => hasAsMany(calls, list.page.limit) }
  }

  /** Undefined where the rows take more memory than a page may. */
  async function readPage(list: List, scope: queries.Scope): Promise<Lines | undefined> {
    const { selection, page, context } = list
    const shown = shownCalls(list)
    const query = queries.selectPage(selection, page, shown, { scope, bytesMax: PAGE_BYTES_MAX })
    try {
      const rows = await rowsOf(wholeRows(traces, query, context.signal))
      const pieces = rows.map((piece) => renderRows(piece, shown))
      const count = pieces.reduce((sum, { calls }) => sum + calls, 0)
      return { lines: pieces.map((piece) => piece.lines), isFull: () => count === page.limit }
    } catch (error) {
      if (!isOutOfMemory(error)) throw error
      return undefined
    }
  }

  /** Takes one of the slots for long lists until disposed. @throws 503 where the entity may have no more. */
  function takePlace(projectId: string): Disposable {
    const entity = entityOf(projectId)
    const leave = slots.take(entity)
    if (leave !== undefined) return { [Symbol.dispose]: leave }
    const held = `${slots.taken()} long lists are being read already, ${slots.heldBy(entity)} of them of ${entity}`
    throw unavailable(`${held}: the server reads ${LONG_LISTS_MAX}, and keeps some slots for others`, 5)
  }

  return { lines, linesOfIds: batches.linesOfIds, ids: idScan.ids }
}

/**
 * Whether a condition has more candidates than the list shows: they are scattered, so reading the rows of all takes
 * longer than a query for those to show.
 */
function hasSpareCandidates({ selection, page }: List, { ids }: queries.Scope): boolean {
  if (ids === undefined || page.limit === undefined || isOfFamily(selection)) return false
  return ids.length > page.offset + page.limit
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
