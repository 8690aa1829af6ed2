import type { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { firstOf } from '../../stores/trace-db/port.ts'
import { hasExtras } from './extras.ts'
import { checkSelection, createCallLists, type ReadingDeps } from './lists.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** Every way calls are read. */
export function createCallReading(deps: ReadingDeps) {
  const { traces } = deps
  const lists = createCallLists(deps)
  return {
    /** Wire: 200 with null for an unknown call. */
    async read(req: wire.CallReadReq, context: CallContext): Promise<z.input<typeof wire.CallReadRes>> {
      const [call = null] = await lists.callsById(await lists.checked(req, context), [req.id])
      return { call }
    },

    /** The list as the wire has it: text where that can be. */
    async streamQuery(
      req: wire.CallsStreamQueryReq,
      context: CallContext,
    ): Promise<AsyncIterable<Uint8Array | wire.Call>> {
      const list = await lists.checked(req, context)
      return hasExtras(req) ? lists.asCalls(list) : lists.asText(list)
    },

    /** The same list for other parts of the server. */
    async list(req: wire.CallsStreamQueryReq, context: CallContext): Promise<AsyncIterable<wire.Call>> {
      return lists.asCalls(await lists.checked(req, context))
    },

    /** The ids of that list alone. */
    async ids(req: wire.CallsStreamQueryReq, context: CallContext): Promise<AsyncIterable<string>> {
      return lists.asIds(await lists.checked(req, context))
    },

    async queryStats(
      req: wire.CallsQueryStatsReq,
      { signal }: CallContext,
    ): Promise<z.input<typeof wire.CallsQueryStatsRes>> {
      checkSelection(req)
      if (req.limit != null && req.limit < 0) throw invalidRequest('limit must not be negative')
      const storageSize = req.include_total_storage_size ? 'with' : 'without'
      // One row past the limit tells whether there are more.
      const limit = req.limit == null ? undefined : Math.min(req.limit + 1, Number.MAX_SAFE_INTEGER)
      const expanded = await lists.expandedFields(req, [], req.expand_columns ?? [])
      const query = queries.countCalls({ ...req, expanded }, { limit, storageSize })
      const row = await firstOf(traces.query<{ count: number; bytes: number }>(query, signal))
      const count = row?.count ?? 0
      return {
        count: req.limit == null ? count : Math.min(count, req.limit),
        total_storage_size_bytes: storageSize === 'with' ? (row?.bytes ?? 0) : null,
        has_more: req.limit == null ? null : count > req.limit,
      }
    },
  }
}
