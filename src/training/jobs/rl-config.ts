import type { RlConfig } from './contract-wire.ts'
import type { ExperimentalConfig } from './wire.ts'

/** Tokens of one row, which is one gradient step. */
const PACKED_SEQUENCE_LENGTH = 2048

/** The original service's random state. */
const SEED = 3407

/** Fills in every default. Wire: null and absent mean the same, and 0 turns the importance weight's limit off. */
export function rlConfigOf(given: ExperimentalConfig): RlConfig {
  return {
    learning_rate: given.learning_rate ?? 5e-6,
    advantage_balance: given.advantage_balance ?? 0,
    scale_rewards: given.scale_rewards ?? true,
    ppo: given.ppo ?? false,
    epsilon: given.epsilon ?? null,
    epsilon_high: given.epsilon_high ?? null,
    importance_sampling_level: given.importance_sampling_level ?? 'token',
    max_negative_advantage_importance_sampling_weight:
      given.max_negative_advantage_importance_sampling_weight || null,
    mask_prob_ratio: given.mask_prob_ratio ?? false,
    kimi_k2_tau: given.kimi_k2_tau ?? given.x_k2_tau ?? null,
    precalculate_logprobs: given.precalculate_logprobs ?? false,
    packed_sequence_length: PACKED_SEQUENCE_LENGTH,
    seed: SEED,
  }
}
