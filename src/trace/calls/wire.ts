import { z } from 'zod'
import { Call } from './messages/call-wire.ts'

/** A reply that says nothing. Requests, and the call itself, are in `messages/`, which reader and writer share. */
export const Empty = z.object({})

export const CallStartRes = z.object({ id: z.string(), trace_id: z.string() }).meta({ id: 'CallStartRes' })

export const CallUpsertBatchRes = z.object({ res: z.array(z.union([CallStartRes, Empty])) })

export const CallReadReq = z.object({
  project_id: z.string(),
  id: z.string(),
  include_costs: z.boolean().nullish(),
  include_storage_size: z.boolean().nullish(),
  include_total_storage_size: z.boolean().nullish(),
})
export type CallReadReq = z.output<typeof CallReadReq>
export const CallReadRes = z.object({ call: Call.nullable() })

export const CallsDeleteRes = z.object({ num_deleted: z.int() })

export const CallsQueryStatsRes = z.object({
  count: z.int(),
  total_storage_size_bytes: z.int().nullable(),
  has_more: z.boolean().nullable(),
})
