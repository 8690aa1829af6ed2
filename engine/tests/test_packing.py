"""Rows, and that prefixes run once give what they give when they run with every sequence."""

import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from examples import lora, rl_config
from memory import bytes_kept
from peft import PeftModel
from torch import Tensor

from engine.beat import no_beat
from engine.contract import RlConfig
from engine.trainer.chat import Sequence
from engine.trainer.metrics import Metrics
from engine.trainer.model import BaseModel, adapter, create_adapter
from engine.trainer.on_policy import Measured
from engine.trainer.packing import Row, clusters, pack, to_row
from engine.trainer.policy import logprobs, predict
from engine.trainer.rl import Terms, gradient_step
from engine.trainer.state import trainable

CPU = torch.device("cpu")
NEW = Measured(source_N=None, base_N=None, reference_N=None)


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


def a_large_group(rng: Random) -> list[Sequence]:
    """Several batches of sequences of one prompt."""
    shared = prompt(rng, 40)
    return [sequence(rng, 0, shared, rng.randrange(15, 40)) for _ in range(24)]


CASES = [one_prompt_each, several_histories, groups_of_one, a_long_one_between, a_large_group]


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
            model.zero_grad()
            metrics = stepped(base, model, row, rl_config(importance_sampling_level="sequence"))
            gradients = [parameter.grad for parameter in trainable(model).values() if parameter.grad is not None]
            found.append(
                (
                    by_sequence(row, logprobs(model, row)),
                    metrics["loss"],
                    metrics["entropy"],
                    torch.cat([gradient.flatten() for gradient in gradients]),
                )
            )
            sizes.append(sum(batch.num_tokens for batch in row.batches))
    (logprobs_1, loss_1, entropy_1, gradient_1), (logprobs_2, loss_2, entropy_2, gradient_2) = found
    for key, values in logprobs_1.items():
        assert logprobs_2[key] == pytest.approx(values, abs=1e-4)
    assert loss_2 == pytest.approx(loss_1, rel=1e-4)
    assert entropy_2 == pytest.approx(entropy_1, rel=1e-5)
    assert (gradient_2 - gradient_1).norm() < 1e-4 * gradient_1.norm()
    assert (sizes[1] < 0.8 * sizes[0]) == (case is not groups_of_one)


def no_update(*_: object) -> float:
    return 0.0


def stepped(base: BaseModel, model: PeftModel, row: Row, config: RlConfig, measured: Measured = NEW) -> Metrics:
    """A gradient step without its update: the gradients stay."""
    no_optimizer = torch.optim.SGD([torch.zeros(1)])
    run = SimpleNamespace(base=base, model=model, optimizer=no_optimizer, update=no_update)
    job = SimpleNamespace(config=config, policy_step=0)
    return gradient_step(cast(Any, run), row, measured, cast(Any, job), no_beat)


@pytest.mark.parametrize("case", CASES, ids=[case.__name__ for case in CASES])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"importance_sampling_level": "average", "ppo": True},
        {"precalculate_logprobs": True, "truncated_importance_sampling": 2.0},
        {"truncated_importance_sampling": 2.0},
        {"kl_penalty_coef": 0.3},
        {"kl_penalty_coef": 0.3, "kl_penalty_source": "sample", "kimi_k2_tau": 0.1},
    ],
    ids=str,
)
def test_batches_add_up_to_the_row(
    base: BaseModel, tmp_path: Path, case: Callable[[Random], list[Sequence]], options: dict[str, Any]
) -> None:
    config = rl_config(**options)
    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model:
        generator = torch.Generator().manual_seed(0)
        for parameter in trainable(model).values():
            parameter.data.add_(torch.randn(parameter.shape, generator=generator) * 0.02)
        row = to_row(case(Random(0)), CPU, share_prefixes=False, batch_tokens=100)
        assert len(row.batches) > 1
        other_N = torch.randn(len(row.weights_N), generator=generator) - 7
        measured = Measured(source_N=other_N, base_N=None, reference_N=other_N + 0.5)
        metrics = stepped(base, model, row, config, measured)
        found = {name: cast(Tensor, parameter.grad).clone() for name, parameter in trainable(model).items()}
        model.zero_grad()
        predicted = [predict(model, batch) for batch in row.batches]
        whole = Terms.of(row, measured, config).loss(torch.cat([logprobs_M for logprobs_M, _ in predicted]), config)
        whole.loss.backward()
        for name, parameter in trainable(model).items():
            wanted = cast(Tensor, parameter.grad)
            assert (found[name] - wanted).norm() <= 1e-4 * wanted.norm(), name
    assert metrics["loss"] == pytest.approx(whole.loss.item(), rel=1e-4)
    assert metrics["on_policy/ratio_mean"] == pytest.approx(whole.ratio_mean.item(), rel=1e-4)
    is_unused = bool(config.truncated_importance_sampling) and not config.precalculate_logprobs
    assert metrics.get("on_policy/tokens_not_truncated", 0) == (len(other_N) if is_unused else 0)
    assert ("kl_policy_ref" in metrics) == (whole.kl_policy_ref is not None)


def test_memory_does_not_grow_with_the_row(base: BaseModel, tmp_path: Path) -> None:
    """What is kept for the backward pass is of one batch at a time."""
    create_adapter(base, lora(), tmp_path / "zero")
    kept: list[int] = []
    with adapter(base, tmp_path / "zero") as model:
        for number in (6, 48):
            sequences = [sequence(Random(g), g, prompt(Random(g), 20), 10) for g in range(number)]
            row = to_row(sequences, CPU, share_prefixes=False, batch_tokens=100)
            with bytes_kept() as most:
                stepped(base, model, row, rl_config())
            kept.append(most())
    assert kept[1] < 1.01 * kept[0]


def test_long_sequences_share_no_long_prefix() -> None:
    """The matrix of what their tokens see would be larger than what sharing saves."""
    rng = Random(0)
    shared = prompt(rng, 9000)
    assert to_row([sequence(rng, 0, shared, 10) for _ in range(2)], CPU, share_prefixes=True).batches[0].prefix
    row = to_row([sequence(rng, 0, shared, 4000) for _ in range(2)], CPU, share_prefixes=True)
    assert [batch.prefix for batch in row.batches] == [None, None]


@pytest.mark.parametrize(
    ("prefix", "answer", "batch_tokens", "size_max", "batches"),
    [(300, 300, 2048, 2048, 13), (1500, 300, 2048, 2523, 22), (5000, 100, 2048, 6023, 7), (100, 3000, 2048, 3100, 64)],
)
def test_a_large_group_runs_in_several_batches(
    prefix: int, answer: int, batch_tokens: int, size_max: int, batches: int
) -> None:
    rng = Random(0)
    shared = prompt(rng, prefix)
    row = to_row(
        [sequence(rng, 0, shared, answer) for _ in range(64)], CPU, share_prefixes=True, batch_tokens=batch_tokens
    )
    assert max(batch.num_tokens for batch in row.batches) <= size_max
    assert len(row.batches) == batches
    assert len(row.sequences) == 64


def test_a_piece_of_one_sequence_has_no_prefix() -> None:
    rng = Random(0)
    shared = prompt(rng, 30)
    sequences = [sequence(rng, 0, shared, answer) for answer in (10, 10, 10, 50)]
    row = to_row(sequences, CPU, share_prefixes=True, batch_tokens=100)
    assert [(tuple(batch.tokens_BT.shape), batch.prefix is None) for batch in row.batches] == [
        ((1, 80), True),
        ((3, 11), False),
    ]


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
    rows = pack(groups, 100, None, Random("0/0"))
    assert rows == pack(groups, 100, None, Random("0/0"))
    assert sorted(len(s) for row in rows for s in row) == [10, 20, 30, 40, 50, 60, 150]
    assert all(sum(map(len, row)) <= 100 or len(row) == 1 for row in rows)
    assert rows != pack(groups, 100, None, Random("0/1"))


def test_a_row_is_as_long_as_the_longest_sequence() -> None:
    short = [[plain(700) for _ in range(8)]]
    assert [sum(map(len, row)) for row in pack(short, None, None, Random("0/0"))] == [1400] * 4
    rows = pack([*short, [plain(4000)]], None, None, Random("0/0"))
    assert len(rows) == 3
    assert all(sum(map(len, row)) <= 4096 for row in rows)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 9])
def test_a_job_has_as_many_steps_as_asked(steps: int) -> None:
    """Whatever the lengths; a sequence cannot be in two of them."""
    groups = [[plain(length) for length in lengths] for lengths in ((30, 40), (3000, 20, 10), (60,), (150,), (9, 9))]
    rows = pack(groups, 100, steps, Random("0/0"))
    assert len(rows) == steps
    assert sorted(len(s) for row in rows for s in row) == sorted(len(s) for group in groups for s in group)
    assert all(rows)


def test_rows_of_a_number_of_steps_are_filled_alike() -> None:
    rows = pack([[plain(20) for _ in range(8)] for _ in range(13)], None, 3, Random("0/0"))
    assert [sum(map(len, row)) for row in rows] == [700, 680, 700]


def test_no_row_is_left_with_a_few_tokens() -> None:
    rows = pack([[plain(20) for _ in range(8)] for _ in range(13)], 1000, None, Random("0/0"))
    assert [sum(map(len, row)) for row in rows] == [700, 700, 680]


def test_many_sequences_are_packed_without_measuring_rows_anew() -> None:
    asked: list[int] = []

    class Measured(Sequence):
        def __len__(self) -> int:
            asked.append(1)
            return super().__len__()

    short: list[Sequence] = [Measured([1, 2], [False, True], [math.nan, -1.0]) for _ in range(500)]
    assert len(pack([short], None, None, Random(0))) == 1
    assert len(asked) < 10 * len(short)


def test_a_row_lists_its_sampled_tokens_in_the_order_of_its_batches() -> None:
    sequences = [plain(length) for length in (5, 90, 3, 4)]
    for index, sequence in enumerate(sequences):
        sequence.trajectory, sequence.advantage, sequence.weight = (0, index // 2), float(index), 1.0
    row = to_row(sequences, CPU, share_prefixes=True, batch_tokens=100)
    assert [tuple(batch.tokens_BT.shape) for batch in row.batches] == [(3, 5), (1, 90)]
    for batch in row.batches:
        assert batch.targets_M.tolist() == batch.tokens_BT.roll(-1, 1)[batch.predicts_BT].tolist()
    assert row.parts == [slice(0, 9), slice(9, 98)]
    assert row.sequence_N.tolist() == [0] * 2 + [1] * 3 + [2] * 4 + [3] * 89
    assert row.advantages_N.tolist() == [2.0] * 2 + [3.0] * 3 + [0.0] * 4 + [1.0] * 89
    assert row.num_trajectories == 2
