"""How far a row's rollouts are from the policy trained on them: metrics that separate healthy runs from broken ones."""

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.trainer.metrics import Metrics
from engine.trainer.packing import Row

# A grammar that leaves one token lets vLLM report log 1 = 0 for it, whatever the policy thinks of that token.
FORCED_BELOW = -1e-3

# Nats that rounding alone may make of a mean gap, by the precision of the model. A logit between 16 and 32 has steps of
# 2^-3 in bfloat16 (8 bits of significand), so rounding one moves it by up to 2^-4, and two independent roundings of it
# lie 2/3 of that apart on average: 0.042. The last hidden states are rounded as well, and make as much again.
GAP_OF_ROUNDING = {torch.float32: 0.0, torch.bfloat16: 0.083, torch.float16: 0.011}


@dataclass(frozen=True)
class Measured:
    """log pi of a row's sampled tokens under other policies than the current one."""

    source_N: Tensor | None  # the policy that the job started from; None where it was not asked, or is the current one
    base_N: Tensor | None  # the base model; None for a row of which it was not asked
    reference_N: Tensor | None  # of the KL penalty, where there is one
    meets_source: bool = False  # the first row of a job meets the policy that it started from


def health(
    row: Row, logprobs_N: Tensor, source_N: Tensor | None, base_N: Tensor | None, policy_step: int, dtype: torch.dtype
) -> Metrics:
    """`logprobs_N`: the policy's now; `source_N`: before the job's first update, which is the one that sampled the row
    when training is on-policy. `dtype` is what the model computes in. Metrics that cannot be computed for a row are
    left out."""
    known_N = ~row.rollout_logprobs_N.isnan()
    rollout_N = row.rollout_logprobs_N[known_N]
    num_known = len(rollout_N)
    metrics = {
        "on_policy/tokens_with_logprobs": float(num_known),
        "on_policy/tokens_without_logprobs": float(len(known_N) - num_known),
    }
    if base_N is not None:
        metrics["on_policy/kl_to_base"] = (logprobs_N - base_N).mean().item()
    if source_N is not None:
        source_known_N = source_N[known_N]
        metrics["on_policy/tokens_forced"] = float(((rollout_N == 0) & (source_known_N < FORCED_BELOW)).sum())
    if source_N is not None and num_known:
        gap_N = (rollout_N - source_N[known_N]).abs()
        metrics["on_policy/logprob_gap_mean"] = gap_N.mean().item()
        metrics["on_policy/logprob_gap_max"] = gap_N.max().item()
        metrics["on_policy/logprob_gap_of_rounding"] = GAP_OF_ROUNDING.get(dtype, 0.0)
    return metrics | context(row) | age(row, policy_step) | bias(row)


def context(row: Row) -> Metrics:
    """Tokens whose context may differ from the one they were sampled in: their choices carry no prompt ids."""
    num_tokens = sum(turn.num_tokens for turn in row.turns)
    rebuilt = sum(turn.num_tokens for turn in row.turns if turn.rebuilt_context)
    return {
        "on_policy/tokens_with_rebuilt_context": float(rebuilt),
        "on_policy/share_with_rebuilt_context": rebuilt / num_tokens if num_tokens else 0.0,
    }


def age(row: Row, policy_step: int) -> Metrics:
    """Age, in steps, of the policy that sampled the row's tokens. Clients say which one did; a step that the policy has
    not had is as good as none."""
    ages = [
        (policy_step - turn.step, turn.num_tokens)
        for turn in row.turns
        if turn.step is not None and 0 <= turn.step <= policy_step
    ]
    num_tokens = sum(tokens for _, tokens in ages)
    if not num_tokens:
        return {}
    return {
        "on_policy/versions_behind_mean": sum(steps * tokens for steps, tokens in ages) / num_tokens,
        "on_policy/versions_behind_max": float(max(steps for steps, _ in ages)),
        "on_policy/tokens_with_version": float(num_tokens),
    }


def bias(row: Row) -> Metrics:
    """Tokens that were not sampled from the policy's own distribution, by cause."""
    metrics = {"on_policy/tokens_biased": float(sum(turn.num_tokens for turn in row.turns if turn.biased_by))}
    for name in sorted({name for turn in row.turns for name in turn.biased_by}):
        tokens = sum(turn.num_tokens for turn in row.turns if name in turn.biased_by)
        metrics[f"on_policy/tokens_biased_by_{name}"] = float(tokens)
    return metrics
