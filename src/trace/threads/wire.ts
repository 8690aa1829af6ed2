import { z } from 'zod'
import { SortKeys } from '../query-language/wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })

export const ThreadsQueryReq = z.object({
  project_id: z.string(),
  filter: z
    .object({
      after_datetime: DateTime.nullish(),
      before_datetime: DateTime.nullish(),
      thread_ids: z.array(z.string()).nullish(),
    })
    .nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
  sort_by: SortKeys.nullish(),
})
export type ThreadsQueryReq = z.output<typeof ThreadsQueryReq>

/** Statistics of the turns of a thread; percentiles are of turns that have ended. */
export const Thread = z
  .object({
    thread_id: z.string(),
    turn_count: z.int(),
    start_time: DateTime,
    last_updated: DateTime,
    first_turn_id: z.string(),
    last_turn_id: z.string(),
    p50_turn_duration_ms: z.number(),
    p99_turn_duration_ms: z.number(),
  })
  .meta({ id: 'Thread' })
export type Thread = z.input<typeof Thread>
