import { tooLarge } from '../../errors.ts'
import type { Aggregate } from './aggregates.ts'
import type { TimeBuckets } from './time-buckets.ts'

/** Numbers in one list of buckets: tens of megabytes of JSON, several times what any chart shows. */
const NUMBERS_MAX = 500_000

/** Characters of names in one list of buckets: each bucket repeats the names of its aggregates and of its model. */
const NAME_CHARS_MAX = 64 * 1024 * 1024

/** The models that have buckets of their own. */
interface Models {
  count: number
  /** Characters of all their names together. */
  chars: number
}

/** Buckets of no model in particular. */
const ONE_LIST: Models = { count: 1, chars: 0 }

/** @throws 413 for buckets with more numbers, or longer names, than a reply has room for. */
export function checkReplySize(
  buckets: TimeBuckets,
  aggregates: readonly Aggregate[],
  models = ONE_LIST,
): void {
  const numbers = buckets.count * aggregates.length * models.count
  const nameChars = aggregates.reduce((sum, { name }) => sum + name.length, 0) * models.count + models.chars
  if (numbers <= NUMBERS_MAX && nameChars * buckets.count <= NAME_CHARS_MAX) return
  const ofModels = models === ONE_LIST ? '' : ` for each of ${models.count} models or more`
  throw tooLarge(
    `The reply would have ${buckets.count} buckets of ${aggregates.length} aggregates${ofModels}: there is room for ` +
      `${NUMBERS_MAX} numbers and ${NAME_CHARS_MAX} characters of names. Ask for a shorter range, larger buckets or ` +
      'fewer aggregates',
  )
}
