import { ON_POLICY_MAX } from './on-policy-wire.ts'

/** What the owner of a job should know of a gradient step, in words for people. */
export interface StepWarning {
  code: string
  message: string
  value: number
  threshold: number
}

interface Rule {
  code: string
  metric: string
  /** Values above it warn. */
  threshold: number
  /** A metric that is added to the threshold, where a step has it. */
  plus?: string
  message: string
}

const RULES: readonly Rule[] = [
  {
    code: 'logprob_gap',
    metric: 'on_policy/logprob_gap_mean',
    threshold: ON_POLICY_MAX.logprobGapMean,
    plus: 'on_policy/logprob_gap_of_rounding',
    message:
      'The log-probabilities of the rollouts differ from the trainer’s. Were they sampled from another step, at another temperature, or elsewhere?',
  },
  {
    code: 'missing_logprobs',
    metric: 'on_policy/tokens_without_logprobs',
    threshold: ON_POLICY_MAX.tokensWithoutLogprobs,
    message: 'Some tokens came without log-probabilities and count as on-policy. Sample with logprobs=true.',
  },
  {
    code: 'rebuilt_context',
    metric: 'on_policy/share_with_rebuilt_context',
    threshold: ON_POLICY_MAX.shareWithRebuiltContext,
    message:
      'Some choices do not carry the token ids of their prompts, so the context of this share of tokens was rendered from messages and may not be what they were sampled in. Sample through this server with logprobs=true and send choices as they came; require_sampled_context makes a job fail instead.',
  },
  {
    code: 'clipped',
    metric: 'on_policy/share_clipped',
    threshold: ON_POLICY_MAX.shareClipped,
    message:
      'The importance ratios of many tokens lie outside the clip range. Lower learning_rate or train on fresher rollouts.',
  },
  {
    code: 'stale_rollouts',
    metric: 'on_policy/versions_behind_max',
    threshold: ON_POLICY_MAX.versionsBehindMax,
    message: 'Some rollouts were sampled from a step well before the one that is trained.',
  },
  {
    code: 'forced_tokens',
    metric: 'on_policy/tokens_forced',
    threshold: ON_POLICY_MAX.tokensForced,
    message:
      'Some tokens were forced on the policy (their log-probability is 0), as a grammar does. Their importance ratios mean nothing.',
  },
  {
    code: 'not_truncated',
    metric: 'on_policy/tokens_not_truncated',
    threshold: 0,
    message:
      'truncated_importance_sampling has no effect without precalculate_logprobs: it limits the ratio of log-probabilities that are calculated anew to those of the rollouts.',
  },
]

const BIASED_PREFIX = 'on_policy/tokens_biased_by_'

/** Reasons why a gradient step is less than on-policy, from its metrics. */
export function onPolicyWarnings(metrics: Readonly<Record<string, number>>): StepWarning[] {
  const found = RULES.flatMap(({ code, metric, plus, message, ...rule }) => {
    const value = metrics[metric] ?? 0
    const threshold = rule.threshold + (plus === undefined ? 0 : (metrics[plus] ?? 0))
    return value > threshold ? [{ code, message, value, threshold }] : []
  })
  const biased = Object.entries(metrics).flatMap(([name, value]) => {
    if (!name.startsWith(BIASED_PREFIX) || value <= 0) return []
    const parameter = name.slice(BIASED_PREFIX.length)
    return [
      {
        code: `biased_by_${parameter}`,
        message: `Some tokens were sampled with ${parameter}, so not from the distribution that their log-probabilities describe. Roll out without it.`,
        value,
        threshold: 0,
      },
    ]
  })
  return [...found, ...biased]
}
