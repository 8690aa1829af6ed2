import { z } from 'zod'
import { isWellFormed } from '../../wire/well-formed-wire.ts'

export const HALF_CHARACTER = 'A name has a surrogate without its other half'

/** The adapter that a model starts with: one that is forked into it may have another rank (`adapter-check.ts`). */
export const Lora = z
  .object({
    rank: z.int().min(1),
    alpha: z.int().min(1),
    target_modules: z.array(z.string().min(1).max(128).refine(isWellFormed, HALF_CHARACTER)).min(1).max(64),
    seed: z.int().min(0),
  })
  .meta({
    id: 'Lora',
    description: 'The adapter that the model starts with; one that is forked into it may have another rank',
  })
export type Lora = z.output<typeof Lora>

/** The adapter that the original service trains: its rank, scale, layers, and random state. */
const LORA_DEFAULTS: Lora = {
  rank: 8,
  alpha: 16,
  target_modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'],
  seed: 3407,
}

/** Fills in defaults. */
export function loraOf(given: Partial<{ [Key in keyof Lora]: Lora[Key] | null | undefined }>): Lora {
  return {
    rank: given.rank ?? LORA_DEFAULTS.rank,
    alpha: given.alpha ?? LORA_DEFAULTS.alpha,
    target_modules: [...new Set(given.target_modules ?? LORA_DEFAULTS.target_modules)].sort(),
    seed: given.seed ?? LORA_DEFAULTS.seed,
  }
}
