import { z } from 'zod/mini'

export const leaderboardSearch = z.object({
  /** The place of the column that models are ranked by, from 0. */
  by: z.catch(z._default(z.number(), 0), 0),
  /** Whether the worst comes first. */
  worst: z.catch(z._default(z.boolean(), false), false),
})
