"""The policy loss of one row, as pure functions of tensors.

Axes: N the sampled tokens of the row, all its sequences one after another; G the sequences.
Only sampled tokens get here, so no mask appears. `sequence_N` says which sequence (0..G-1) a token belongs to.

With pi the policy being trained, A the advantage and w the weight of a token:
    d      = log pi(token) - log pi_old(token)
    rho    = exp(d), or another ratio of `importance_ratio`
    CISPO  : l = -stopgrad(clip(rho, 1 - eps, 1 + eps_high)) * A * log pi(token)      (arXiv 2506.13585)
    PPO    : l = -min(rho * A, clip(rho, 1 - eps, 1 + eps_high) * A)                  (arXiv 1707.06347)
    L      = sum(l * w) / N

Before that, where the config asks for it:
    A     <- A - tau * d                                                              (Kimi K2, arXiv 2507.20534)
    A     <- A + beta * (mean(k) - k),  k = log pi(token) - log pi_ref(token)         (mean over the row)
    l     <- l * min(pi_old / pi_rollout, U), where pi_old was calculated anew: elsewhere both are the same

Logarithms of ratios are limited to 20 in size, as in the reference trainer: exp(20) is 5e8.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.contract import RlConfig

LOG_RATIO_MAX = 20.0


@dataclass(frozen=True)
class PolicyLoss:
    loss: Tensor  # scalar
    share_clipped: Tensor  # scalar, 0 to 1: sampled tokens whose ratio lies outside the clip range
    ratio_mean: Tensor  # scalar: rho before anything limits it
    kl_policy_ref: Tensor | None  # scalar: the mean of k, where there is a penalty


def policy_loss(
    logprobs_N: Tensor,
    old_logprobs_N: Tensor,
    advantages_N: Tensor,
    weights_N: Tensor,
    sequence_N: Tensor,
    config: RlConfig,
    *,
    rollout_logprobs_N: Tensor | None = None,
    reference_logprobs_N: Tensor | None = None,
    kl_policy_ref: Tensor | None = None,
) -> PolicyLoss:
    """`logprobs_N` carries the gradient. A NaN among the old or rollout logprobs means unknown, and the current value
    is used. `rollout_logprobs_N` is given where the old ones are not the rollout's; `kl_policy_ref`, the mean of k,
    where these tokens are only a part of the row."""
    frozen_N = logprobs_N.detach()
    old_N = torch.where(old_logprobs_N.isnan(), frozen_N, old_logprobs_N)
    log_ratio_N = logprobs_N - old_N
    ratio_N = importance_ratio(log_ratio_N, sequence_N, config.importance_sampling_level)
    low, high = clip_range(config)
    share_clipped = ((ratio_N < low) | (ratio_N > high)).float().mean().detach()
    ratio_mean = ratio_N.detach().mean()

    # The name on the wire says negative advantages; the reference applies the limit to every token.
    if limit := config.max_negative_advantage_importance_sampling_weight:
        ratio_N = ratio_N.clamp(max=limit)
    if config.mask_prob_ratio:
        ratio_N = torch.where((ratio_N > low) & (ratio_N < high), ratio_N, 0.0)
    if config.kimi_k2_tau:
        advantages_N = advantages_N - config.kimi_k2_tau * log_ratio_N.detach()
    if config.kl_penalty_coef and reference_logprobs_N is not None:
        penalised_N = old_N if config.kl_penalty_source == "sample" else frozen_N
        kl_N = penalised_N - reference_logprobs_N
        kl_policy_ref = kl_N.mean() if kl_policy_ref is None else kl_policy_ref
        advantages_N = advantages_N + config.kl_penalty_coef * (kl_policy_ref - kl_N)

    # Under CISPO a ratio masked to 0 is clipped back up to 1 - eps, as in the reference.
    clipped_N = ratio_N.clamp(low, high)
    if config.ppo:
        loss_N = -torch.minimum(ratio_N * advantages_N, clipped_N * advantages_N)
    else:
        loss_N = -clipped_N.detach() * advantages_N * logprobs_N
    if config.truncated_importance_sampling and rollout_logprobs_N is not None:
        rollout_N = torch.where(rollout_logprobs_N.isnan(), frozen_N, rollout_logprobs_N)
        loss_N = loss_N * limited_exp(old_N - rollout_N).detach().clamp(max=config.truncated_importance_sampling)
    mean_loss = (loss_N * weights_N).sum() / (len(loss_N) + 1e-6)
    return PolicyLoss(mean_loss, share_clipped, ratio_mean, kl_policy_ref)


def importance_ratio(log_ratio_N: Tensor, sequence_N: Tensor, level: str) -> Tensor:
    """rho per token: its own ratio, its sequence's (GSPO, arXiv 2507.18071), or a mean of the two."""
    if level == "token":
        return limited_exp(log_ratio_N)
    log_sequence_ratio_N = mean_per_sequence(log_ratio_N, sequence_N)[sequence_N]
    if level == "sequence":
        return limited_exp(log_sequence_ratio_N)
    if level == "average":
        return (limited_exp(log_ratio_N) + limited_exp(log_sequence_ratio_N)) / 2
    return (limited_exp(log_ratio_N) * limited_exp(log_sequence_ratio_N)).sqrt()


def limited_exp(log_ratio_N: Tensor) -> Tensor:
    return log_ratio_N.clamp(-LOG_RATIO_MAX, LOG_RATIO_MAX).exp()


def mean_per_sequence(values_N: Tensor, sequence_N: Tensor) -> Tensor:
    """The mean of `values_N` over the tokens of each sequence: shape G."""
    counts_G = torch.bincount(sequence_N)
    return values_N.new_zeros(len(counts_G)).index_add(0, sequence_N, values_N) / counts_G


def clip_range(config: RlConfig) -> tuple[float, float]:
    """(1 - eps, 1 + eps_high). CISPO's defaults, 1 and 4, only cut extreme ratios; PPO's are 0.2 on both sides."""
    if config.ppo:
        epsilon = 0.2 if config.epsilon is None else config.epsilon
        epsilon_high = epsilon if config.epsilon_high is None else config.epsilon_high
    else:
        epsilon = 1.0 if config.epsilon is None else config.epsilon
        epsilon_high = 4.0 if config.epsilon_high is None else config.epsilon_high
    return 1 - epsilon, 1 + epsilon_high


def logprobs_and_entropy(logits_NV: Tensor, tokens_N: Tensor) -> tuple[Tensor, Tensor]:
    """log pi of each token, and the entropy of each prediction in nats (without gradient); both shape N."""
    all_logprobs_NV = logits_NV.float().log_softmax(dim=-1)
    frozen_NV = all_logprobs_NV.detach()
    entropy_N = -(frozen_NV.exp() * frozen_NV).sum(dim=-1)
    return all_logprobs_NV.gather(-1, tokens_N[:, None]).squeeze(-1), entropy_N
