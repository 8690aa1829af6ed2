"""Metrics of gradient steps, and their aggregation for the job."""

import math
from statistics import fmean

Metrics = dict[str, float]

# Means over tokens, and the metric that says over how many. Other means are over the steps.
MEAN_OVER = {
    "on_policy/logprob_gap_mean": "on_policy/tokens_with_logprobs",
    "on_policy/versions_behind_mean": "on_policy/tokens_with_version",
    "on_policy/share_clipped": "num_trainable_tokens",
    "on_policy/share_with_rebuilt_context": "num_trainable_tokens",
    "on_policy/ratio_mean": "num_trainable_tokens",
    "on_policy/kl_to_base": "num_trainable_tokens",
}


def finite(metrics: Metrics) -> Metrics:
    """JSON has no other numbers, so those are left out."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


def of_job(steps: list[Metrics]) -> Metrics:
    """A step that lacks a metric does not count for it."""
    nothing = {"num_trainable_tokens": 0.0, "num_trajectories": 0.0}
    names = dict.fromkeys(name for step in steps for name in step)
    combined = {name: combine(name, [step for step in steps if name in step]) for name in names}
    return {**nothing, **combined, "num_gradient_steps": float(len(steps))}


def combine(name: str, steps: list[Metrics]) -> float:
    values = [step[name] for step in steps]
    if name.endswith("_max"):
        return max(values)
    if name.startswith(("num_", "on_policy/tokens_")):
        return math.fsum(values)
    weights = [step[MEAN_OVER[name]] for step in steps] if name in MEAN_OVER else None
    return fmean(values, weights)
