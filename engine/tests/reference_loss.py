"""The policy loss once more, in plain NumPy and loops, written from the formulas alone: a check on loss.py."""

from typing import Any

import numpy as np

from engine.contract import RlConfig


def reference_loss(
    logprobs: list[float],
    old: list[float],
    advantages: list[float],
    weights: list[float],
    sequence: list[int],
    c: RlConfig,
    rollout: list[float] | None = None,
    reference: list[float] | None = None,
) -> float:
    """The loss of one row; a NaN among `old` or `rollout` stands for the current log-probability."""
    difference = [0.0 if np.isnan(o) else p - o for p, o in zip(logprobs, old, strict=True)]
    if c.ppo:
        epsilon = 0.2 if c.epsilon is None else c.epsilon
        epsilon_high = epsilon if c.epsilon_high is None else c.epsilon_high
    else:
        epsilon = 1.0 if c.epsilon is None else c.epsilon
        epsilon_high = 4.0 if c.epsilon_high is None else c.epsilon_high
    kl = [p - r for p, r in zip(logprobs, reference, strict=True)] if reference is not None else [0.0] * len(logprobs)
    total = 0.0
    for t, logprob in enumerate(logprobs):
        own = np.exp(np.clip(difference[t], -20, 20))
        of_sequence = np.mean([d for d, s in zip(difference, sequence, strict=True) if s == sequence[t]])
        whole = np.exp(np.clip(of_sequence, -20, 20))
        ratio = {
            "token": own,
            "sequence": whole,
            "average": (own + whole) / 2,
            "geometric_average": np.sqrt(own) * np.sqrt(whole),
        }[c.importance_sampling_level]
        if c.max_negative_advantage_importance_sampling_weight:
            ratio = min(ratio, c.max_negative_advantage_importance_sampling_weight)
        if c.mask_prob_ratio and not 1 - epsilon < ratio < 1 + epsilon_high:
            ratio = 0.0
        advantage = advantages[t]
        if c.kimi_k2_tau is not None:
            advantage -= c.kimi_k2_tau * difference[t]
        if c.kl_penalty_coef and reference is not None:
            advantage += c.kl_penalty_coef * float(np.mean(kl) - kl[t])
        clipped: Any = np.clip(ratio, 1 - epsilon, 1 + epsilon_high)
        loss = -min(ratio * advantage, clipped * advantage) if c.ppo else -clipped * advantage * logprob
        if c.truncated_importance_sampling and rollout is not None:
            then = logprob if np.isnan(rollout[t]) else rollout[t]
            drift = np.exp((logprob if np.isnan(old[t]) else old[t]) - then)
            loss *= min(drift, c.truncated_importance_sampling)
        total += loss * weights[t]
    return float(total / (len(logprobs) + 1e-6))
