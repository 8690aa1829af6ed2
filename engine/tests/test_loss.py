import itertools
import math
from random import Random

import pytest
import torch
from examples import rl_config
from reference_loss import reference_loss
from torch import Tensor

from engine.contract import RlConfig
from engine.trainer.loss import clip_range, importance_ratio, logprobs_and_entropy, policy_loss

SEQUENCE = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]


def row(seed: int) -> list[list[float]]:
    """Log-probabilities now and then (far apart, one unknown), advantages and weights of ten tokens."""
    random = Random(seed)
    logprobs = [-3 * random.random() for _ in SEQUENCE]
    old = [logprob + random.gauss() for logprob in logprobs]
    old[4] = math.nan
    advantages, weights = [random.gauss() for _ in range(4)], [random.random() for _ in range(4)]
    return [logprobs, old, [advantages[i] for i in SEQUENCE], [weights[i] for i in SEQUENCE]]


def loss_of(
    logprobs_N: Tensor,
    old: list[float],
    advantages: list[float],
    weights: list[float],
    c: RlConfig,
    **others: Tensor | None,
) -> Tensor:
    old_N, advantages_N, weights_N = (torch.tensor(column) for column in (old, advantages, weights))
    return policy_loss(logprobs_N, old_N, advantages_N, weights_N, torch.tensor(SEQUENCE), c, **others).loss


VARIANTS = [
    rl_config(
        ppo=ppo,
        importance_sampling_level=level,
        epsilon=epsilon,
        epsilon_high=epsilon_high,
        max_negative_advantage_importance_sampling_weight=limit,
        mask_prob_ratio=mask,
        kimi_k2_tau=tau,
        kl_penalty_coef=beta,
        truncated_importance_sampling=upper,
    )
    for ppo, level, (epsilon, epsilon_high), limit, mask, tau, beta, upper in itertools.product(
        (False, True),
        ("token", "sequence", "average", "geometric_average"),
        ((None, None), (0.3, None), (None, 0.5), (0.1, 0.4)),
        (None, 0.0, 1.5),
        (False, True),
        (None, 0.0, 0.3),
        (None, 0.2),
        (None, 0.8),
    )
]


@pytest.mark.parametrize("new_old", [False, True], ids=["rollout", "calculated anew"])
def test_every_variant_equals_the_second_implementation(new_old: bool) -> None:
    logprobs, old, advantages, weights = row(0)
    reference, rollout = row(1)[0], row(2)[1] if new_old else None
    reference_N, rollout_N = torch.tensor(reference), torch.tensor(rollout) if rollout else None
    for config in VARIANTS:
        expected = reference_loss(logprobs, old, advantages, weights, SEQUENCE, config, rollout, reference)
        loss = loss_of(
            torch.tensor(logprobs),
            old,
            advantages,
            weights,
            config,
            rollout_logprobs_N=rollout_N,
            reference_logprobs_N=reference_N,
        )
        assert loss.item() == pytest.approx(expected, rel=1e-5, abs=1e-6), config


@pytest.mark.parametrize("seed", range(1, 4))
def test_variants_on_other_numbers(seed: int) -> None:
    logprobs, old, advantages, weights = row(seed)
    for config in VARIANTS[seed::7]:
        expected = reference_loss(logprobs, old, advantages, weights, SEQUENCE, config)
        loss = loss_of(torch.tensor(logprobs), old, advantages, weights, config)
        assert loss.item() == pytest.approx(expected, rel=1e-5, abs=1e-6), config


def test_the_penalty_moves_advantage_but_adds_none() -> None:
    logprobs, old, advantages, weights = row(0)
    config, nothing = rl_config(kl_penalty_coef=0.5), [0.0] * 10
    reference_N = torch.tensor([logprob - 0.25 for logprob in logprobs])
    constant = loss_of(
        torch.tensor(logprobs), old, advantages, weights, config, reference_logprobs_N=reference_N
    ).item()
    assert constant == pytest.approx(loss_of(torch.tensor(logprobs), old, advantages, weights, rl_config()).item())
    old_N, ones_N = torch.tensor(logprobs), torch.ones(10)
    result = policy_loss(
        old_N, old_N, torch.tensor(nothing), ones_N, torch.tensor(SEQUENCE), config, reference_logprobs_N=reference_N
    )
    assert result.kl_policy_ref is not None
    assert result.kl_policy_ref.item() == pytest.approx(0.25)


def test_cispo_gradient_is_the_clipped_ratio_times_the_advantage() -> None:
    logprobs, old, advantages, weights = row(0)
    logprobs_N = torch.tensor(logprobs, requires_grad=True)
    loss_of(logprobs_N, old, advantages, weights, rl_config()).backward()
    expected = [
        -min(math.exp(0 if math.isnan(o) else p - o), 5.0) * a * w / (10 + 1e-6)
        for p, o, a, w in zip(logprobs, old, advantages, weights, strict=True)
    ]
    assert logprobs_N.grad is not None
    assert list(logprobs_N.grad) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("level", ["token", "sequence", "average", "geometric_average"])
def test_ppo_gradient_equals_finite_differences(level: str) -> None:
    config = rl_config(ppo=True, importance_sampling_level=level)
    logprobs, old, advantages, weights = row(1)
    # An unknown old logprob follows the current one, but carries no gradient: keep it out of this comparison.
    old[4] = logprobs[4] - 0.1
    logprobs_N = torch.tensor(logprobs, dtype=torch.float64, requires_grad=True)
    loss_of(logprobs_N, old, advantages, weights, config).backward()
    assert logprobs_N.grad is not None
    for t in range(len(SEQUENCE)):
        moved = [[p + h * (i == t) for i, p in enumerate(logprobs)] for h in (1e-4, -1e-4)]
        up, down = (reference_loss(values, old, advantages, weights, SEQUENCE, config) for values in moved)
        assert logprobs_N.grad[t].item() == pytest.approx((up - down) / 2e-4, rel=1e-3, abs=1e-6)


def test_on_policy_every_ratio_is_one() -> None:
    zeros_N, sequence_N = torch.zeros(10), torch.tensor(SEQUENCE)
    for level in ("token", "sequence", "average", "geometric_average"):
        assert importance_ratio(zeros_N, sequence_N, level).tolist() == [1.0] * 10


def test_clip_defaults() -> None:
    assert clip_range(rl_config()) == (0.0, 5.0)
    assert clip_range(rl_config(epsilon=0.3)) == (0.7, 5.0)
    assert clip_range(rl_config(ppo=True)) == (0.8, 1.2)
    assert clip_range(rl_config(ppo=True, epsilon=0.5)) == (0.5, 1.5)


def test_share_clipped_counts_ratios_outside_the_range() -> None:
    old_N = torch.tensor([0.0, -2.0, 2.0, math.nan])
    result = policy_loss(torch.zeros(4), old_N, torch.ones(4), torch.ones(4), torch.tensor([0, 0, 1, 1]), rl_config())
    assert result.share_clipped.item() == 0.25


def test_logprobs_and_entropy_of_a_known_distribution() -> None:
    logits_NV = torch.tensor([[0.0, math.log(3.0)], [5.0, 5.0]])
    logprobs_N, entropy_N = logprobs_and_entropy(logits_NV, torch.tensor([1, 0]))
    assert logprobs_N.tolist() == pytest.approx([math.log(0.75), math.log(0.5)])
    assert entropy_N.tolist() == pytest.approx([0.75 * math.log(4 / 3) + 0.25 * math.log(4), math.log(2)])


@pytest.mark.parametrize("level", ["token", "sequence", "average", "geometric_average"])
def test_a_ratio_beyond_any_number_is_limited(level: str) -> None:
    logprobs_N = torch.tensor([-0.1] * len(SEQUENCE), requires_grad=True)
    config = rl_config(ppo=True, importance_sampling_level=level)
    ones = [1.0] * len(SEQUENCE)
    result = loss_of(logprobs_N, [-200.0] * len(SEQUENCE), [-1.0] * len(SEQUENCE), ones, config)
    result.backward()
    assert result.item() == pytest.approx(math.exp(20), rel=1e-3)
    assert logprobs_N.grad is not None and bool(logprobs_N.grad.isfinite().all())
