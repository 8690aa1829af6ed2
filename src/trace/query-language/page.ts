import { invalidRequest } from '../../errors.ts'
import type { Params } from './params.ts'
import type { RowsQueryReq, SortBy } from './wire.ts'

/** The page of a list that a request asks for. */
export interface Page {
  /** Undefined for all of it. */
  limit: number | undefined
  offset: number
}

export interface SortedPage extends Page {
  sort_by: readonly SortBy[]
}

/** Missing values mean everything from the start. @throws 400 for negative numbers. */
export function pageOf(req: { limit?: number | null | undefined; offset?: number | null | undefined }): Page {
  const { limit, offset } = req
  if ((limit ?? 0) < 0 || (offset ?? 0) < 0) throw invalidRequest('limit and offset must not be negative')
  return { limit: limit ?? undefined, offset: offset ?? 0 }
}

const OLDEST_FIRST = [
  { field: 'created_at', direction: 'asc' as const },
  { field: 'id', direction: 'asc' as const },
]

/** Oldest first, also among equal rows. @throws 400 for negative numbers. */
export function sortedPageOf(req: RowsQueryReq): SortedPage {
  return { sort_by: [...(req.sort_by ?? []), ...OLDEST_FIRST], ...pageOf(req) }
}

/** SQL that ends a query with the rows of a page. */
export function pageSql({ limit, offset }: Page, params: Params): string {
  const counted = limit === undefined ? '' : `LIMIT ${params.bind(limit, 'UInt64')}`
  return offset === 0 ? counted : `${counted} OFFSET ${params.bind(offset, 'UInt64')}`
}
