import { z } from 'zod'

const DateTime = z.string().meta({ format: 'date-time' })

/** The range of time: from `start` to before `end`, by default until now, in buckets of `granularity` seconds. */
export const statsRange = {
  start: DateTime,
  end: DateTime.nullish(),
  granularity: z.int().positive().nullish(),
  timezone: z.string().default('UTC'),
}

export const Aggregation = z.enum(['sum', 'avg', 'min', 'max', 'count', 'count_true', 'count_false'])
export type Aggregation = z.output<typeof Aggregation>

export const Percentiles = z.array(z.number())

/** Wire: aggregates are named `<aggregation>_<metric>` and `p<percentile>_<metric>`. */
export const Bucket = z
  .object({ timestamp: DateTime, count: z.int() })
  .catchall(z.union([z.number(), z.string()]).nullable())
  .meta({ id: 'StatsBucket' })
export type Bucket = z.input<typeof Bucket>

export const statsWindow = { start: DateTime, end: DateTime, granularity: z.int(), timezone: z.string() }
