import { invalidRequest } from '../../errors.ts'
import type { SortBy } from '../query-language/wire.ts'
import type { Order } from './queries.ts'

/** What a request leaves open of a page. @throws 400 for negative numbers. */
export function pageOf(req: { limit?: number | null | undefined; offset?: number | null | undefined }): {
  limit: number
  offset: number
} {
  const { limit, offset } = req
  if ((limit ?? 0) < 0 || (offset ?? 0) < 0) throw invalidRequest('limit and offset must not be negative')
  return { limit: limit ?? Number.MAX_SAFE_INTEGER, offset: offset ?? 0 }
}

/** Wire: other fields than these give no order; what sorts alike is in the order of its ids. */
export function orderOf(
  sortBy: readonly SortBy[] | null | undefined,
  fields: ReadonlySet<string>,
  otherwise: Order,
): Order {
  const asked = (sortBy ?? []).filter(({ field }) => fields.has(field))
  const order: Order = asked.map(({ field, direction }) => [field, direction])
  return [...(order.length === 0 ? otherwise : order), ['id', 'asc']]
}
