import { z } from 'zod/mini'

export const GROUP_ORDERS = ['reward', '-reward', 'spread', '-spread', 'sent'] as const
export type GroupOrder = (typeof GROUP_ORDERS)[number]

/** What is looked at of the trajectories of a model. */
export const rolloutSearch = z.object({
  /** The step that is looked at; −1 for the newest that was trained. */
  step: z.catch(z._default(z.int(), -1), -1),
  /** The group of trajectories that is open; −1 for none. */
  group: z.catch(z._default(z.int(), -1), -1),
  /** Which of its attempts, in the order of rewards. */
  attempt: z.catch(z._default(z.int().check(z.minimum(0)), 0), 0),
  order: z.catch(z._default(z.enum(GROUP_ORDERS), '-spread'), '-spread'),
  show: z.catch(z._default(z.enum(['chat', 'tokens']), 'chat'), 'chat'),
})
export type RolloutSearch = z.infer<typeof rolloutSearch>

export type ChangeRollouts = (change: Partial<RolloutSearch>, how?: 'push' | 'replace') => void
