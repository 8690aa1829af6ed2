import type { SortBy } from '../query-language/wire.ts'
import type { Order } from './queries.ts'

/** Wire: other fields than these give no order; equal items are in the order of their ids. */
export function orderOf(
  sortBy: readonly SortBy[] | null | undefined,
  fields: ReadonlySet<string>,
  otherwise: Order,
): Order {
  const asked = (sortBy ?? []).filter(({ field }) => fields.has(field))
  const order: Order = asked.map(({ field, direction }) => [field, direction])
  return [...(order.length === 0 ? otherwise : order), ['id', 'asc']]
}
