import type { z } from 'zod'
import { constrainsTools, type ToolCalling } from './constraints.ts'
import { formatType, type samplingFields } from './sampling-wire.ts'

/** A request for answers; those for text completions have no tools. */
type SamplingReq = z.output<z.ZodObject<typeof samplingFields>> & ToolCalling

/** How a choice was sampled, for clients that train on it. */
export interface SamplingPolicy {
  /** The step of the model that answered. */
  step: number
  /** Parameters by which tokens were drawn from another distribution than their log-probabilities describe. */
  biased_by: string[]
}

/** Log-probabilities are those of the model as it is, before temperature, penalties and filters. */
export function samplingPolicy(req: SamplingReq, step: number): SamplingPolicy {
  const biases: Record<string, boolean> = {
    temperature: (req.temperature ?? 1) !== 1,
    top_p: (req.top_p ?? 1) < 1,
    top_k: (req.top_k ?? 0) > 0,
    min_p: (req.min_p ?? 0) > 0,
    frequency_penalty: (req.frequency_penalty ?? 0) !== 0,
    presence_penalty: (req.presence_penalty ?? 0) !== 0,
    repetition_penalty: (req.repetition_penalty ?? 1) !== 1,
    logit_bias: Object.keys(req.logit_bias ?? {}).length > 0,
    min_tokens: (req.min_tokens ?? 0) > 0,
    bad_words: (req.bad_words ?? []).length > 0,
    thinking_token_budget: req.thinking_token_budget != null,
    allowed_token_ids: req.allowed_token_ids != null,
    beam_search: req.use_beam_search === true,
    structured_outputs:
      req.structured_outputs != null ||
      (req.response_format != null && formatType(req.response_format) !== 'text') ||
      req.tool_choice === 'required' ||
      constrainsTools(req) ||
      (req.tool_choice != null && typeof req.tool_choice === 'object'),
  }
  return { step, biased_by: Object.keys(biases).filter((name) => biases[name]) }
}
