import { z } from 'zod/mini'

/** How curves are drawn, wherever there are some. */
const curveFields = {
  smooth: z.catch(z._default(z.number().check(z.minimum(0), z.maximum(0.99)), 0), 0),
  scale: z.catch(z._default(z.enum(['linear', 'log']), 'linear'), 'linear'),
}

/** Of the page with a project's models. */
export const trainingSearch = z.object({
  view: z.catch(z._default(z.enum(['models', 'runs']), 'models'), 'models'),
  /** The name of a run, as the links of clients have it. */
  run: z.catch(z._default(z.coerce.string(), ''), ''),
  ...curveFields,
})
export type TrainingSearch = z.infer<typeof trainingSearch>
export const TRAINING_SEARCH_DEFAULTS: TrainingSearch = trainingSearch.parse({})

const VIEWS = ['curves', 'rollouts', 'steps', 'jobs', 'run'] as const
export const GROUP_ORDERS = ['reward', '-reward', 'spread', '-spread', 'sent'] as const
export type GroupOrder = (typeof GROUP_ORDERS)[number]

/** Of one model's page. */
export const modelSearch = z.object({
  view: z.catch(z._default(z.enum(VIEWS), 'curves'), 'curves'),
  /** The step that is looked at; −1 for the newest that was trained. */
  step: z.catch(z._default(z.int(), -1), -1),
  /** The group of trajectories that is open; −1 for none. */
  group: z.catch(z._default(z.int(), -1), -1),
  /** Which of its attempts, in the order of rewards. */
  attempt: z.catch(z._default(z.int().check(z.minimum(0)), 0), 0),
  order: z.catch(z._default(z.enum(GROUP_ORDERS), '-spread'), '-spread'),
  show: z.catch(z._default(z.enum(['chat', 'tokens']), 'chat'), 'chat'),
  ...curveFields,
})
export type ModelSearch = z.infer<typeof modelSearch>
export const MODEL_SEARCH_DEFAULTS: ModelSearch = modelSearch.parse({})

export const jobSearch = z.object(curveFields)
export type CurveSettings = z.infer<typeof jobSearch>
export const JOB_SEARCH_DEFAULTS: CurveSettings = jobSearch.parse({})

export type ChangeModel = (change: Partial<ModelSearch>, how?: 'push' | 'replace') => void
