"""Rows, and that prefixes run once give what they give when they run with every sequence."""

import math
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import torch
from examples import lora, rl_config
from torch import Tensor

from engine.chat import Sequence
from engine.loss import policy_loss
from engine.model import BaseModel, adapter, create_adapter
from engine.packing import Batch, Row, clusters, pack, to_row
from engine.policy import Prediction, logprobs
from engine.state import trainable

CPU = torch.device("cpu")


def plain(length: int) -> Sequence:
    return Sequence(list(range(length)), [False] + [True] * (length - 1), [math.nan] + [-1.0] * (length - 1))


def sequence(rng: Random, group: int, prompt: list[int], *turns: int) -> Sequence:
    """A prompt and then turns by length, sampled ones alternating with others."""
    tokens, sampled = list(prompt), [False] * len(prompt)
    for number, length in enumerate(turns):
        tokens += [rng.randrange(3, 1500) for _ in range(length)]
        sampled += [number % 2 == 0] * length
    logprobs = [-2 * rng.random() if flag else math.nan for flag in sampled]
    return Sequence(tokens, sampled, logprobs, trajectory=(group, rng.randrange(9)), advantage=rng.gauss(), weight=1.0)


def prompt(rng: Random, length: int) -> list[int]:
    return [rng.randrange(3, 1500) for _ in range(length)]


def one_prompt_each(rng: Random) -> list[Sequence]:
    prompts = [prompt(rng, length) for length in (30, 45, 21)]
    return [sequence(rng, g, prompts[g], rng.randrange(3, 12)) for g in range(3) for _ in range(5)]


def several_histories(rng: Random) -> list[Sequence]:
    """Two prompts in a group that share their beginning, and conversations of several turns."""
    header = prompt(rng, 25)
    prompts = [header + prompt(rng, 12), header + prompt(rng, 20)]
    return [sequence(rng, 0, prompts[i % 2], 5, 9 + i, 4) for i in range(8)]


def groups_of_one(rng: Random) -> list[Sequence]:
    return [sequence(rng, g, prompt(rng, 10 + g), 4 + g) for g in range(6)]


def a_long_one_between(rng: Random) -> list[Sequence]:
    shared = prompt(rng, 40)
    lengths = (3, 5, 150, 4)
    return [sequence(rng, 0, shared, length) for length in lengths] + [sequence(rng, 1, shared, 7)]


CASES = [one_prompt_each, several_histories, groups_of_one, a_long_one_between]


def size(batch: Batch) -> int:
    return batch.tokens_BT.numel() + (batch.prefix.tokens_CP.numel() if batch.prefix else 0)


@pytest.mark.parametrize("case", CASES, ids=[case.__name__ for case in CASES])
def test_shared_prefixes_change_nothing(
    base: BaseModel, tmp_path: Path, case: Callable[[Random], list[Sequence]]
) -> None:
    sequences = case(Random(0))
    create_adapter(base, lora(), tmp_path / "zero")
    found: list[tuple[dict[int, list[float]], float, float, Tensor]] = []
    sizes: list[int] = []
    with adapter(base, tmp_path / "zero") as model:
        generator = torch.Generator().manual_seed(0)
        for parameter in trainable(model).values():
            parameter.data.add_(torch.randn(parameter.shape, generator=generator) * 0.02)
        for share in (False, True):
            row = to_row(sequences, CPU, share_prefixes=share, batch_tokens=200)
            prediction = Prediction(model, row)
            columns = (row.rollout_logprobs_N, row.advantages_N, row.weights_N, row.sequence_N)
            result = policy_loss(prediction.logprobs_N, *columns, rl_config(importance_sampling_level="sequence"))
            model.zero_grad()
            prediction.backward(result.loss)
            gradients = [parameter.grad for parameter in trainable(model).values() if parameter.grad is not None]
            found.append(
                (
                    by_sequence(row, prediction.logprobs_N),
                    result.loss.item(),
                    prediction.entropy_N.sum().item(),
                    torch.cat([gradient.flatten() for gradient in gradients]),
                )
            )
            assert torch.equal(logprobs(model, row), prediction.logprobs_N)
            sizes.append(sum(map(size, row.batches)))
    (logprobs_1, loss_1, entropy_1, gradient_1), (logprobs_2, loss_2, entropy_2, gradient_2) = found
    for key, values in logprobs_1.items():
        assert logprobs_2[key] == pytest.approx(values, abs=1e-4)
    assert loss_2 == pytest.approx(loss_1, rel=1e-4)
    assert entropy_2 == pytest.approx(entropy_1, rel=1e-5)
    assert (gradient_2 - gradient_1).norm() < 1e-4 * gradient_1.norm()
    assert (sizes[1] < 0.8 * sizes[0]) == (case is not groups_of_one)


def by_sequence(row: Row, values_N: Tensor) -> dict[int, list[float]]:
    return {id(s): values_N[row.sequence_N == index].tolist() for index, s in enumerate(row.sequences)}


def test_a_prefix_ends_before_what_predicts_a_sampled_token() -> None:
    rng = Random(0)
    shared = prompt(rng, 20)
    (cluster,) = clusters([sequence(rng, 0, shared, 5), sequence(rng, 0, shared, 7)])
    assert cluster.shared == 19
    assert cluster.saves


def test_groups_do_not_share() -> None:
    rng = Random(0)
    shared = prompt(rng, 20)
    assert len(clusters([sequence(rng, 0, shared, 5), sequence(rng, 1, shared, 7)])) == 2


def test_rows_are_filled_in_a_seeded_order() -> None:
    groups = [[plain(length) for length in lengths] for lengths in ((30, 40), (50, 20, 10), (60,), (150,))]
    rows = pack(groups, 100, Random("0/0"))
    assert rows == pack(groups, 100, Random("0/0"))
    assert sorted(len(s) for row in rows for s in row) == [10, 20, 30, 40, 50, 60, 150]
    assert all(sum(map(len, row)) <= 100 or len(row) == 1 for row in rows)
    assert rows != pack(groups, 100, Random("0/1"))


def test_no_row_is_left_with_a_few_tokens() -> None:
    rows = pack([[plain(20) for _ in range(8)] for _ in range(13)], 1000, Random("0/0"))
    assert [sum(map(len, row)) for row in rows] == [700, 700, 680]


def test_a_row_lists_its_sampled_tokens_in_the_order_of_its_batches() -> None:
    sequences = [plain(length) for length in (5, 90, 3, 4)]
    for index, sequence in enumerate(sequences):
        sequence.trajectory, sequence.advantage, sequence.weight = (0, index // 2), float(index), 1.0
    row = to_row(sequences, CPU, share_prefixes=True, batch_tokens=100)
    assert [tuple(batch.tokens_BT.shape) for batch in row.batches] == [(3, 5), (1, 90)]
    predicted = torch.cat([batch.tokens_BT.roll(-1, 1)[batch.predicts_BT] for batch in row.batches])
    assert row.tokens_N.tolist() == predicted.tolist()
    assert row.sequence_N.tolist() == [0] * 2 + [1] * 3 + [2] * 4 + [3] * 89
    assert row.advantages_N.tolist() == [2.0] * 2 + [3.0] * 3 + [0.0] * 4 + [1.0] * 89
    assert row.num_trajectories == 2
