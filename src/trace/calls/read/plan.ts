import { hasPrefilter, isOfFamily } from '../sql/filter.ts'
import { mayBeTruncated } from '../sql/truncated.ts'
import type { List } from './list.ts'
import { type ScanWindow, scanWindows } from './scan-windows.ts'

/** Where the calls of a list are searched. */
export type Source =
  /** Among the ids that the filter names. */
  | { kind: 'ids'; ids: readonly string[] }
  /**
   * Among the ids that a scan of unmerged rows finds (`prefiltersSql`); a step is skipped whose scan finds more than
   * `idsMax`.
   */
  | ({ kind: 'prefilter' } & Prefilter)
  /** Among those that started first or last. A step is skipped whose window would hold all calls. */
  | { kind: 'window'; window: ScanWindow }
  /** Among all calls of the project that an index does not rule out. */
  | { kind: 'full scan' }

/** How candidates are searched. */
export interface Prefilter {
  idsMax: number
  /** Whether the index of words is used: to plan that takes longer than to read few payloads. */
  usesWordIndex: boolean
}

/** One try at reading a list. */
export interface Step {
  source: Source
  /**
   * `page`: the rows in one query, of limited memory, written as JSON here; where they take more memory, or more
   * candidates were found than the list shows, it becomes `batches`. `batches`: first the ids in order (an id scan),
   * then the rows, a batch at a time ({@link rendererOf}), or the calls from memory.
   */
  shape: 'page' | 'batches'
  /**
   * What an id scan orders by: payloads, or their truncated copies first, which shows whether the whole ones are
   * needed.
   */
  sortBy: 'whole' | 'truncated'
  /** Whether the list may have many calls, so that only some such lists may be read at once. */
  isLong: boolean
}

/** Longer lists are read in batches instead of as a page. */
const PAGE_CALLS_MAX = 100

/** Ids that a prefilter may find; for more, a full scan takes less time. */
const IDS_MAX = 200

/**
 * The steps to read a list, to be tried one after another until one finds as many calls as the list may have. Only
 * windows may find too few: the first other step that is not skipped finds all.
 * @throws 4xx for a query or an order that cannot be compiled
 */
export function planRead(
  { req, selection, page }: Pick<List, 'req' | 'selection' | 'page'>,
  { isLargeTable, areCallsKnown }: { isLargeTable: boolean; areCallsKnown: boolean },
): Step[] {
  const isTruncated = (path: string): boolean =>
    mayBeTruncated(path) || selection.leafColumns?.has(path) === true
  const sortBy = page.sort_by.some(({ field }) => isTruncated(field)) ? 'truncated' : 'whole'
  const isLong = page.limit === undefined || page.limit > PAGE_CALLS_MAX
  const scan = (source: Source, isNarrow: boolean): Step => {
    // An id scan over truncated payloads and its rows take less time than one query over whole ones.
    const isPage = !isLong && isNarrow && sortBy === 'whole' && !areCallsKnown
    return { source, shape: isPage ? 'page' : 'batches', sortBy, isLong }
  }
  const amongIds = idsSource(selection, isLargeTable)
  const windows = isLargeTable ? scanWindows(selection, page) : []
  const scans = [
    ...windows.map((window) => scan({ kind: 'window', window }, true)),
    scan({ kind: 'full scan' }, !isLargeTable || isOfFamily(selection)),
  ]
  if (amongIds === undefined) return scans
  const step: Step = {
    source: amongIds,
    // Sizes of whole traces are looked up only for the calls of the list, once these are known.
    shape: req.include_total_storage_size || areCallsKnown ? 'batches' : 'page',
    sortBy,
    isLong: false,
  }
  return amongIds.kind === 'ids' ? [step] : [step, ...scans]
}

/** Undefined where the ids are too many, or unknown. */
function idsSource(
  selection: List['selection'],
  isLargeTable: boolean,
): Extract<Source, { kind: 'ids' | 'prefilter' }> | undefined {
  const named = selection.filter?.call_ids
  if (named?.length) return named.length <= IDS_MAX ? { kind: 'ids', ids: [...new Set(named)] } : undefined
  if (!hasPrefilter(selection)) return undefined
  return { kind: 'prefilter', idsMax: IDS_MAX, usesWordIndex: isLargeTable }
}

/** From this many calls on, the database writes JSON faster, even with the time to plan the query. */
const DATABASE_CALLS_MIN = 500

/** Whether a batch of this many calls is written as JSON by this process or by the database. */
export function rendererOf(calls: number): 'server' | 'database' {
  return calls < DATABASE_CALLS_MIN ? 'server' : 'database'
}

/**
 * Whether a batch of a list can be requested as a range of start times and ids, since neighbours in the list are all
 * the calls between them that its filter selects.
 */
export function mayReadRanges({ selection, page }: Pick<List, 'selection' | 'page'>): boolean {
  const [first, second] = page.sort_by
  const isByStart = first?.field === 'started_at' && second?.field === 'id'
  return isByStart && first.direction === second.direction && selection.query == null
}
