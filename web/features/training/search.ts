import { z } from 'zod/mini'
import { rolloutSearch } from './rollouts/search.ts'

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

/** Of one model's page. */
export const modelSearch = z.object({
  view: z.catch(z._default(z.enum(VIEWS), 'curves'), 'curves'),
  ...rolloutSearch.shape,
  ...curveFields,
})
export type ModelSearch = z.infer<typeof modelSearch>
export const MODEL_SEARCH_DEFAULTS: ModelSearch = modelSearch.parse({})

export const jobSearch = z.object(curveFields)
export type CurveSettings = z.infer<typeof jobSearch>
export const JOB_SEARCH_DEFAULTS: CurveSettings = jobSearch.parse({})

export type ChangeModel = (change: Partial<ModelSearch>, how?: 'push' | 'replace') => void
