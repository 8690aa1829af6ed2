/** Values of a gradient step's metrics above which a step counts as less than on-policy, here and on the pages. */
export const ON_POLICY_MAX = {
  /**
   * Nats a token, beyond what rounding makes. The rollouts' log-probabilities and the trainer's agree to 1e-4 in
   * float32; for bfloat16 the trainer reports the expected rounding. A mean difference above this means another policy,
   * another context or another temperature; one step of training alone makes less.
   */
  logprobGapMean: 0.02,
  tokensWithoutLogprobs: 0,
  shareWithRebuiltContext: 0,
  /** The share of tokens with a clipped importance ratio. Above it, the ratios no longer correct the difference. */
  shareClipped: 0.2,
  versionsBehindMax: 1,
  tokensForced: 0,
} as const
