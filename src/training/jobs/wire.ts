import { z } from 'zod'
import { PageQuery, pageOf } from '../page-wire.ts'
import { TrajectoryGroup } from '../trajectories-wire.ts'

/** Wire: keys come with explicit nulls, which mean the default. */
export const ExperimentalConfig = z
  .object({
    learning_rate: z.number().nonnegative().nullish(),
    advantage_balance: z.number().min(-1).max(1).nullish(),
    scale_rewards: z.boolean().nullish(),
    ppo: z.boolean().nullish(),
    epsilon: z.number().nonnegative().nullish(),
    epsilon_high: z.number().nonnegative().nullish(),
    importance_sampling_level: z.enum(['token', 'sequence', 'average', 'geometric_average']).nullish(),
    max_negative_advantage_importance_sampling_weight: z.number().nonnegative().nullish(),
    mask_prob_ratio: z.boolean().nullish(),
    kimi_k2_tau: z.number().nullish(),
    x_k2_tau: z.number().nullish().meta({ description: 'Another name of kimi_k2_tau' }),
    precalculate_logprobs: z.boolean().nullish(),
  })
  .meta({ id: 'ExperimentalConfig' })
export type ExperimentalConfig = z.output<typeof ExperimentalConfig>

/** What a job's body holds beside its groups, which are read one by one. */
export const JobHead = z.object({
  model_id: z.uuid(),
  experimental_config: ExperimentalConfig.nullish(),
})

/** The whole body, for the API description. */
export const JobCreateReq = JobHead.extend({ trajectory_groups: z.array(TrajectoryGroup) })

export const JobState = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])

/** Wire: clients read `id` only. */
export const JobRes = z
  .object({
    id: z.uuid(),
    model_id: z.uuid(),
    kind: z.enum(['rl']),
    state: JobState,
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    error_message: z.string().nullable(),
    checkpoint_step: z.int().nullable(),
    progress: z.object({ phase: z.string(), done: z.int(), total: z.int() }).nullable(),
  })
  .meta({ id: 'TrainingJob' })

export const JobPath = z.object({ training_job_id: z.string() })

export const JobEvent = z
  .object({
    id: z.uuid(),
    type: z.enum(['training_started', 'gradient_step', 'training_ended', 'training_failed']),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'TrainingJobEvent' })

export const EventsListQuery = PageQuery
export type EventsListQuery = z.output<typeof EventsListQuery>

export const EventsListRes = pageOf(JobEvent).meta({ id: 'TrainingJobEventPage' })
