import { z } from 'zod/mini'

/** Runs are compared up to this many: more columns than a screen has. */
export const RUNS_MAX = 8

/** The order in which the server has the rows. */
export const AS_STORED = '='

export const compareSearch = z.object({
  /** Ids of the evaluations' calls; the first is the baseline. */
  runs: z.catch(z._default(z.array(z.string()), []), []),
  /**
   * The metric by which rows are sorted, and how: `-` for the largest first, `~` for those that got worse, `+` for
   * those that got better; empty for errors
   * and what got worse by any of the first metrics, `=` for the order of the server.
   */
  sort: z.catch(z._default(z.string(), ''), ''),
  /** The place of the run whose values are sorted, where one metric is sorted by its value. */
  of: z.catch(z._default(z.number(), 0), 0),
  /** Whether rows that some run lacks are left out. */
  shared: z.catch(z._default(z.boolean(), false), false),
  /** The place of the row that is looked at, from 0; -1 for none. */
  open: z.catch(z._default(z.number(), -1), -1),
  view: z.catch(z._default(z.enum(['rows', 'charts']), 'rows'), 'rows'),
  /** What the chart of rows has across and upwards, as `A length`; empty for the first metric. */
  x: z.catch(z._default(z.string(), ''), ''),
  y: z.catch(z._default(z.string(), ''), ''),
})
export type CompareSearch = z.infer<typeof compareSearch>

export type ChangeCompare = (change: Partial<CompareSearch>, how?: 'push' | 'replace') => void
