import { forEachYielding } from '../../yielding.ts'
import { type Aggregate, namedAggregates } from './aggregates.ts'
import type { Bucket } from './stats-wire.ts'
import { type TimeBuckets, timestamps } from './time-buckets.ts'

/** A bucket in which something happened, counted from the first. */
interface BucketRow {
  bucket: number
  count: number
  aggregates: (number | null)[]
}

/** Every bucket as it is shown, those in which nothing happened included. */
export async function shownBuckets(
  buckets: TimeBuckets,
  aggregates: readonly Aggregate[],
  rows: readonly BucketRow[],
): Promise<Bucket[]> {
  const found = new Map(rows.map((row) => [row.bucket, row]))
  const shown: Bucket[] = []
  await forEachYielding(timestamps(buckets).entries(), ([bucket, timestamp]) => {
    const row = found.get(bucket)
    shown.push({ timestamp, ...namedAggregates(aggregates, row?.aggregates), count: row?.count ?? 0 })
  })
  return shown
}
