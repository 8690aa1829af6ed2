import { z } from 'zod'
import { isRecord } from '../../json/is-record.ts'
import { RlConfig, SftConfig } from '../trainer/contract-wire.ts'
import type { ExperimentalConfig, SftJobCreateReq } from './wire.ts'

/** The original service's random state. */
const SEED = 3407

/** Wire: what "auto" means to the original trainer. */
const SFT_BATCH_SIZE = 2

/** Wire: the client's own default. */
const SFT_LEARNING_RATE = 5e-5

/**
 * An RL job's settings as stored: the worker's, and the reference step of the KL penalty. A waiting job may have been
 * stored by an older build; settings it lacks have their defaults.
 */
export const StoredRlConfig = z.object({
  worker: z.preprocess(
    (stored) => (isRecord(stored) ? { ...LATER_RL_SETTINGS, ...stored } : stored),
    RlConfig,
  ),
  kl_penalty_reference_step: z.int().nullable(),
  kl_penalty_step_lag: z.int().nullable().default(null),
})
export type StoredRlConfig = z.output<typeof StoredRlConfig>

const LATER_RL_SETTINGS: Pick<
  RlConfig,
  | 'kl_penalty_source'
  | 'num_trajectories_learning_rate_multiplier_power'
  | 'require_sampled_context'
  | 'gradient_steps'
> = {
  kl_penalty_source: 'current_learner',
  num_trajectories_learning_rate_multiplier_power: 0,
  require_sampled_context: false,
  gradient_steps: null,
}

/** The server's defaults for jobs. */
export interface JobDefaults {
  requireSampledContext: boolean
}

/** An SFT job's settings as they are stored. */
export const StoredSftConfig = z.object({
  worker: SftConfig,
  metric_logging: z.object({ target_training_step: z.int().nullable() }).nullable(),
})
export type StoredSftConfig = z.output<typeof StoredSftConfig>

/** Fills in every default. Wire: null and absent mean the same, and 0 turns a limit or penalty off. */
export function rlConfigOf(
  given: ExperimentalConfig,
  { requireSampledContext }: JobDefaults = { requireSampledContext: false },
): StoredRlConfig {
  return {
    kl_penalty_reference_step: given.kl_penalty_reference_step ?? null,
    kl_penalty_step_lag: given.kl_penalty_step_lag ?? null,
    worker: {
      learning_rate: given.learning_rate ?? 5e-6,
      advantage_balance: given.advantage_balance ?? 0,
      scale_rewards: given.scale_rewards ?? true,
      ppo: given.ppo ?? given.loss_fn === 'ppo',
      epsilon: given.epsilon ?? null,
      epsilon_high: given.epsilon_high ?? null,
      importance_sampling_level: given.importance_sampling_level ?? 'token',
      max_negative_advantage_importance_sampling_weight:
        given.max_negative_advantage_importance_sampling_weight || null,
      mask_prob_ratio: given.mask_prob_ratio ?? false,
      kimi_k2_tau: given.kimi_k2_tau ?? given.x_k2_tau ?? null,
      precalculate_logprobs: given.precalculate_logprobs ?? false,
      normalize_advantages: given.normalize_advantages ?? true,
      truncated_importance_sampling: given.truncated_importance_sampling || null,
      kl_penalty_coef: given.kl_penalty_coef || null,
      kl_penalty_source: given.kl_penalty_source ?? LATER_RL_SETTINGS.kl_penalty_source,
      num_trajectories_learning_rate_multiplier_power:
        given.num_trajectories_learning_rate_multiplier_power ??
        LATER_RL_SETTINGS.num_trajectories_learning_rate_multiplier_power,
      allow_training_without_logprobs: given.allow_training_without_logprobs ?? false,
      require_sampled_context: given.require_sampled_context ?? requireSampledContext,
      packed_sequence_length: given.packed_sequence_length ?? null,
      gradient_steps: given.gradient_steps ?? LATER_RL_SETTINGS.gradient_steps,
      seed: given.seed ?? SEED,
    },
  }
}

/** Fills in every default. */
export function sftConfigOf(given: SftJobCreateReq['config']): StoredSftConfig {
  const { batch_size, learning_rate, assistant_turns, metric_logging } = given ?? {}
  return {
    worker: {
      batch_size: typeof batch_size === 'number' ? batch_size : SFT_BATCH_SIZE,
      learning_rate: learning_rate ?? SFT_LEARNING_RATE,
      assistant_turns: assistant_turns ?? 'all',
    },
    metric_logging:
      metric_logging?.enabled === true
        ? { target_training_step: metric_logging.target_training_step ?? null }
        : null,
  }
}

/** Reads stored settings. Jobs stored by older builds have only a batch size and learning rates. */
export function storedSftConfig(text: string): StoredSftConfig {
  const stored: unknown = JSON.parse(text)
  if (isRecord(stored) && 'worker' in stored) return StoredSftConfig.parse(stored)
  return { worker: SftConfig.parse({ assistant_turns: 'all', ...(stored as object) }), metric_logging: null }
}
