import { z } from 'zod'
import { PageQuery, pageOf } from '../../wire/page-wire.ts'
import { TrajectoryGroup } from '../trajectories/wire.ts'

/** Tokens of one row of an RL job: below it rows are too short to learn from, above it memory runs out. */
const PackedSequenceLength = z.int().min(16).max(1_048_576)

/** Steps of the optimizer in one RL job; more than there are sequences cannot be taken anyhow. */
const GradientSteps = z.int().min(1).max(10_000)

/**
 * Of a setting that is a factor or a limit: so large that it never limits anything sensible, and small enough that the
 * trainer's 32-bit floats, which end at 3.4e38, hold a learning rate that is multiplied by the fourth power of a
 * million trajectories.
 */
const SETTING_MAX = 1e12

const Setting = z.number().nonnegative().max(SETTING_MAX)

/** Of either sign. */
const Tau = z.number().min(-SETTING_MAX).max(SETTING_MAX)

const wireFields = {
  learning_rate: Setting.nullish(),
  advantage_balance: z.number().min(-1).max(1).nullish(),
  scale_rewards: z.boolean().nullish(),
  ppo: z.boolean().nullish(),
  epsilon: Setting.nullish(),
  epsilon_high: Setting.nullish(),
  importance_sampling_level: z.enum(['token', 'sequence', 'average', 'geometric_average']).nullish(),
  max_negative_advantage_importance_sampling_weight: Setting.nullish(),
  mask_prob_ratio: z.boolean().nullish(),
  kimi_k2_tau: Tau.nullish(),
  x_k2_tau: Tau.nullish().meta({ description: 'Another name of kimi_k2_tau' }),
  precalculate_logprobs: z.boolean().nullish(),
}

/**
 * Options that the open trainer supports and the hosted service does not offer; docs/rl-quirks.md says what each does.
 */
const ownFields = {
  normalize_advantages: z.boolean().nullish(),
  truncated_importance_sampling: Setting.nullish(),
  kl_penalty_coef: Setting.nullish(),
  kl_penalty_reference_step: z
    .int()
    .nonnegative()
    .nullish()
    .meta({ description: 'A step of the model; null for the base model' }),
  kl_penalty_step_lag: z
    .int()
    .min(1)
    .nullish()
    .meta({ description: 'The KL penalty refers to the step so many steps before the one that is trained' }),
  kl_penalty_source: z
    .enum(['current_learner', 'sample'])
    .nullish()
    .meta({ description: 'Which log-probabilities the KL penalty compares with the reference' }),
  loss_fn: z.enum(['cispo', 'ppo']).nullish().meta({ description: 'The same as ppo: true or false' }),
  num_trajectories_learning_rate_multiplier_power: z.number().min(0).max(4).nullish().meta({
    description: 'The learning rate of a step is multiplied by its number of trajectories to this power',
  }),
  logprob_calculation_chunk_size: z
    .int()
    .min(1)
    .nullish()
    .meta({ description: 'Without effect: log-probabilities are computed in batches of a bounded size' }),
  allow_training_without_logprobs: z.boolean().nullish(),
  require_sampled_context: z.boolean().nullish().meta({
    description:
      'Fail before the first step where a trained turn does not carry the token ids of its prompt, so that its context would be rendered anew',
  }),
  packed_sequence_length: PackedSequenceLength.nullish(),
  gradient_steps: GradientSteps.nullish().meta({
    description:
      'How many gradient steps the job is, in place of a length of rows; at most one for each sequence. 1 accumulates the gradients of all trajectories',
  }),
  seed: z.int().nonnegative().nullish(),
}

/** Wire: newer clients name these; their defaults ask for nothing, anything else is refused by name. */
const refusedFields = {
  plot_tensors: refused(z.boolean(), 'Tensors are not plotted: leave plot_tensors out'),
  scale_learning_rate_by_reward_std_dev: refused(
    z.boolean(),
    'The learning rate is not scaled by rewards: leave scale_learning_rate_by_reward_std_dev out',
  ),
  kl_ref_adapter_path: refused(
    z.string(),
    'Files of the server are not read: name a step of the model in kl_penalty_reference_step',
  ),
}

function refused<Value extends z.ZodType>(value: Value, error: string) {
  return value.refine((given) => given === false, { error }).nullish()
}

/** Wire: keys come with explicit nulls, which mean the default. */
export const ExperimentalConfig = z
  .object({ ...wireFields, ...ownFields, ...refusedFields })
  .refine(({ loss_fn, ppo }) => loss_fn == null || ppo == null || ppo === (loss_fn === 'ppo'), {
    error: 'loss_fn and ppo contradict each other',
    path: ['loss_fn'],
  })
  .refine(
    ({ kl_penalty_step_lag, kl_penalty_reference_step }) =>
      kl_penalty_step_lag == null || kl_penalty_reference_step == null,
    {
      error: 'Only one of kl_penalty_reference_step and kl_penalty_step_lag may be set',
      path: ['kl_penalty_step_lag'],
    },
  )
  .refine(
    ({ packed_sequence_length, gradient_steps }) => packed_sequence_length == null || gradient_steps == null,
    {
      error: 'Only one of packed_sequence_length and gradient_steps may be set: both say what a step is',
      path: ['gradient_steps'],
    },
  )
  .meta({ id: 'ExperimentalConfig' })
export type ExperimentalConfig = z.output<typeof ExperimentalConfig>

/** Members of a job's body beside its groups, which are read one by one. */
export const JobHead = z.object({
  model_id: z.uuid(),
  experimental_config: ExperimentalConfig.nullish(),
})

/** The whole body, for the API description. */
export const JobCreateReq = JobHead.extend({ trajectory_groups: z.array(TrajectoryGroup) })

/** Batches of one job; a list of learning rates has one for each. */
const LEARNING_RATES_MAX = 1_000_000

/** Wire: an absent batch size means "auto"; no field of `experimental_config` is known for SFT. */
export const SftJobCreateReq = z.object({
  model_id: z.uuid(),
  training_data_url: z.string().min(1).max(2048),
  config: z
    .object({
      batch_size: z.union([z.int().min(1).max(1_000_000), z.literal('auto')]).nullish(),
      learning_rate: z.union([Setting, z.array(Setting).min(1).max(LEARNING_RATES_MAX)]).nullish(),
      assistant_turns: z.enum(['all', 'last']).nullish(),
      metric_logging: z
        .object({ enabled: z.boolean().nullish(), target_training_step: z.int().nonnegative().nullish() })
        .nullish()
        .meta({ description: 'Whether metrics are also written to the run of the model, and at which step' }),
    })
    .nullish(),
  experimental_config: z.looseObject({}).nullish(),
})
export type SftJobCreateReq = z.output<typeof SftJobCreateReq>

export const JobState = z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled'])

const Count = z.int().nonnegative()

/** Wire: clients read `id` only. */
export const JobRes = z
  .object({
    id: z.uuid(),
    model_id: z.uuid(),
    kind: z.enum(['rl', 'sft']),
    state: JobState,
    created_at: z.string(),
    started_at: z.string().nullable(),
    ended_at: z.string().nullable(),
    error_message: z.string().nullable(),
    checkpoint_step: z.int().nullable(),
    dataset_ref: z
      .string()
      .nullable()
      .meta({ description: 'The version of a dataset whose rows are trained on' }),
    attempts: Count,
    queue_position: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: '1 for the next of its base model to run; null unless queued' }),
    progress: z.object({ phase: z.string(), done: z.int(), total: z.int() }).nullable(),
    counts: z
      .record(z.string(), Count)
      .meta({ description: 'Of what was sent, and of gradient steps taken' }),
  })
  .meta({ id: 'TrainingJob' })
export type JobRes = z.input<typeof JobRes>

export const JobsListQuery = PageQuery.extend({
  model_id: z.string().optional(),
  state: JobState.optional(),
})
export type JobsListQuery = z.output<typeof JobsListQuery>

export const JobsListRes = pageOf(JobRes).meta({ id: 'TrainingJobPage' })
export type JobsListRes = z.input<typeof JobsListRes>

export const JobPath = z.object({ training_job_id: z.string() })

/** Wire: clients ignore types other than the first four. */
export const JobEvent = z
  .object({
    id: z.uuid(),
    type: z.enum([
      'training_started',
      'gradient_step',
      'training_ended',
      'training_failed',
      'training_resumed',
      'on_policy_warning',
      'data_warning',
    ]),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'TrainingJobEvent' })

export const EventsListQuery = PageQuery
export type EventsListQuery = z.output<typeof EventsListQuery>

export const EventsListRes = pageOf(JobEvent).meta({ id: 'TrainingJobEventPage' })
export type EventsListRes = z.input<typeof EventsListRes>
