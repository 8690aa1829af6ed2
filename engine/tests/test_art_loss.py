"""The policy loss against the published one: the file art/loss.py of openpipe-art 0.5.18, run on the same numbers."""

import importlib.metadata
import importlib.util
import itertools
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
import torch
from examples import Json, rl_config

from engine.trainer.loss import policy_loss

SEQUENCE = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3]
PROMPT = 2  # tokens before the sampled ones of each sequence


@pytest.fixture(scope="module")
def art_loss() -> Generator[Callable[..., Any]]:
    """Without its package, which imports clients and servers: only what the file itself needs stands in for it."""
    assert importlib.metadata.version("openpipe-art") == "0.5.18"
    spec = importlib.util.find_spec("art")
    assert spec is not None and spec.submodule_search_locations
    folder = Path(spec.submodule_search_locations[0])
    stubs = {name: ModuleType(name) for name in ("art", "art.utils", "art.dev")}
    stubs["art"].__path__, stubs["art.utils"].__path__ = [str(folder)], [str(folder / "utils")]
    for name, content in (("art", {"dev": stubs["art.dev"]}), ("art.dev", {"TrainConfig": dict})):
        for key, value in content.items():
            setattr(stubs[name], key, value)
    sys.modules.update(stubs)
    try:
        yield importlib.import_module("art.loss").loss_fn
    finally:
        for name in [name for name in sys.modules if name == "art" or name.startswith("art.")]:
            del sys.modules[name]


def numbers(seed: int) -> Json:
    random = Random(seed)
    logprobs = [-3 * random.random() for _ in SEQUENCE]
    columns: Json = {
        "new": logprobs,
        "old": [logprob + random.gauss() for logprob in logprobs],
        "original": [logprob + random.gauss() for logprob in logprobs],
        "reference": [logprob + random.gauss() for logprob in logprobs],
    }
    columns["old"][4] = columns["original"][7] = float("nan")
    for name, draw in (("advantages", random.gauss), ("weights", random.random)):
        per_sequence = [draw() for _ in range(4)]
        columns[name] = [per_sequence[i] for i in SEQUENCE]
    return columns


def packed(values: list[float], fill: float) -> torch.Tensor:
    """As a packed row: every sequence after a prompt of its own. The row is shifted by one inside the loss."""
    row: list[float] = []
    for _, tokens in itertools.groupby(zip(SEQUENCE, values, strict=True), key=lambda pair: pair[0]):
        row += [fill] * PROMPT + [value for _, value in tokens]
    return torch.tensor([row])


def unshifted(values_BT: torch.Tensor, fill: float) -> torch.Tensor:
    """What is known where the token is predicted, one place to the left."""
    return torch.nn.functional.pad(values_BT[:, 1:], (0, 1), value=fill)


def art_row(columns: Json, recalculated: bool) -> tuple[Json, torch.Tensor, torch.Tensor]:
    nan = float("nan")
    inputs: Json = {
        "logprobs": packed(columns["old"], nan),
        "advantages": packed(columns["advantages"], 0.0),
        "weights": packed(columns["weights"], 0.0),
        "assistant_mask": packed([1.0] * 10, 0.0).bool(),
        "group_ids": packed([float(i + 1) for i in SEQUENCE], 0.0).long(),
    }
    if recalculated:
        inputs["original_logprobs"] = packed(columns["original"], nan)
    new_BT = unshifted(packed(columns["new"], -1.0), -1.0).requires_grad_()
    return inputs, new_BT, unshifted(packed(columns["reference"], -1.0), -1.0)


OPTIONS: Json = {
    "ppo": (False, True),
    "importance_sampling_level": ("token", "sequence", "average", "geometric_average"),
    "epsilons": ((None, None), (0.3, None), (None, 0.5), (0.1, 0.4)),
    "kimi_k2_tau": (None, 0.3),
    "mask_prob_ratio": (False, True),
    "max_negative_advantage_importance_sampling_weight": (None, 1.5),
    "kl_penalty_coef": (None, 0.2),
    "truncated_importance_sampling": (None, 0.8),
}


@pytest.mark.parametrize("recalculated", [False, True], ids=["rollout", "calculated anew"])
@pytest.mark.parametrize("level", OPTIONS["importance_sampling_level"])
@pytest.mark.parametrize("ppo", OPTIONS["ppo"])
def test_loss_and_gradient_equal_the_published_ones(
    art_loss: Callable[..., Any], ppo: bool, level: str, recalculated: bool
) -> None:
    others = {name: values for name, values in OPTIONS.items() if name not in ("ppo", "importance_sampling_level")}
    for seed, combination in enumerate(itertools.product(*others.values())):
        chosen = dict(zip(others, combination, strict=True))
        epsilon, epsilon_high = chosen.pop("epsilons")
        options: Json = {"ppo": ppo, "importance_sampling_level": level, **chosen}
        options |= {"epsilon": epsilon, "epsilon_high": epsilon_high}
        columns = numbers(seed)
        inputs, new_BT, reference_BT = art_row(columns, recalculated)
        # The published loss takes a null for a value, so absent options stay absent.
        given = {name: value for name, value in options.items() if value is not None}
        if not recalculated:
            # 0.5.18 multiplies the ratio in once more there; 0.5.23, whose config has the option on the wire, does not.
            given.pop("truncated_importance_sampling", None)
        expected = art_loss(inputs, new_BT, reference_BT, None, given)
        expected.policy_loss.backward()

        new_N = torch.tensor(columns["new"], requires_grad=True)
        result = policy_loss(
            new_N,
            torch.tensor(columns["old"]),
            torch.tensor(columns["advantages"]),
            torch.tensor(columns["weights"]),
            torch.tensor(SEQUENCE),
            rl_config(**options),
            rollout_logprobs_N=torch.tensor(columns["original"]) if recalculated else None,
            reference_logprobs_N=torch.tensor(columns["reference"]),
        )
        result.loss.backward()
        assert result.loss.item() == pytest.approx(expected.policy_loss.item(), rel=1e-4, abs=1e-6), options
        assert new_BT.grad is not None and new_N.grad is not None
        sampled_BT = unshifted(packed([1.0] * 10, 0.0), 0.0).bool()
        assert torch.allclose(new_N.grad, new_BT.grad[sampled_BT], rtol=1e-4, atol=1e-6), options
        assert (result.kl_policy_ref is None) == (expected.kl_policy_ref is None)
        if result.kl_policy_ref is not None:
            assert result.kl_policy_ref.item() == pytest.approx(expected.kl_policy_ref.item(), abs=1e-5)
