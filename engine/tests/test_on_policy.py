"""What RL jobs say about the distance between the rollouts and the policy."""

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from examples import Json, choice, group, lora, rl_config, sums, trajectory, user, write_lines
from worker import Worker, files, steps

from engine.trainer import metrics, policy
from engine.trainer.chat import Sequence
from engine.trainer.model import BaseModel, MetricPasses, adapter, create_adapter
from engine.trainer.packing import to_row
from engine.trainer.rl import measure

SMALL: Json = {"packed_sequence_length": 160}


def turns_of(groups: list[Json]) -> list[Json]:
    return [attempt["messages_and_choices"][-1] for one in groups for attempt in one["trajectories"]]


def test_every_row_is_measured_before_the_first_update(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """A learning rate of 0 changes nothing, so a job with it sees what a job that learns must see as well."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 6))
    learning = worker.run_job("a", step_0, tmp_path / "a", groups, **SMALL, learning_rate=1e-2)
    still = worker.run_job("b", step_0, tmp_path / "b", groups, **SMALL, learning_rate=0.0)
    for name in ("on_policy/logprob_gap_mean", "on_policy/logprob_gap_max"):
        expected = [step[name] for step in steps(still)]
        assert len(expected) > 3
        assert [step[name] for step in steps(learning)] == pytest.approx(expected, rel=1e-4)
    assert learning[-1]["metrics"]["on_policy/logprob_gap_mean"] == pytest.approx(
        still[-1]["metrics"]["on_policy/logprob_gap_mean"], rel=1e-4
    )


def test_the_last_row_is_compared_with_the_base_model(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """At a learning rate of 0 the policy stays what an adapter of step 0 makes of the base: the base itself."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 6))
    learning = worker.run_job("a", step_0, tmp_path / "a", groups, **SMALL, learning_rate=1e-2)
    still = worker.run_job("b", step_0, tmp_path / "b", groups, **SMALL, learning_rate=0.0)
    assert steps(still)[-1]["on_policy/kl_to_base"] == pytest.approx(0, abs=1e-6)
    assert abs(steps(learning)[-1]["on_policy/kl_to_base"]) > 1e-3
    assert all("on_policy/kl_to_base" not in step for step in steps(learning)[:-1])
    assert learning[-1]["metrics"]["on_policy/kl_to_base"] == steps(learning)[-1]["on_policy/kl_to_base"]


def test_on_policy_there_is_no_gap(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    """A forced token apart: its logprob is 0, whatever the policy thinks."""
    groups = sums(tokenizer, 3, logprob=0.0)
    turns_of(groups)[0]["logprobs"]["content"][0]["logprob"] = None
    last = worker.run_job("a", step_0, tmp_path / "a", write_lines(tmp_path / "groups", groups))[-1]["metrics"]
    assert last["on_policy/tokens_without_logprobs"] == 1
    assert last["on_policy/tokens_with_logprobs"] == last["num_trainable_tokens"] - 1
    assert 0 < last["on_policy/tokens_forced"] <= last["on_policy/tokens_with_logprobs"]
    assert last["on_policy/ratio_mean"] < 1


def test_the_share_of_context_that_was_rendered_anew(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    groups = sums(tokenizer, 6)
    for turn in turns_of(groups)[::2]:
        turn["prompt_token_ids"] = [5, 6, 7]
    sizes = [len(turn["logprobs"]["content"]) for turn in turns_of(groups)]
    path = write_lines(tmp_path / "groups", groups)
    messages = worker.run_job("a", step_0, tmp_path / "a", path, **SMALL)
    last = messages[-1]["metrics"]
    assert last["on_policy/tokens_with_rebuilt_context"] == sum(sizes[1::2])
    assert last["on_policy/share_with_rebuilt_context"] == pytest.approx(sum(sizes[1::2]) / sum(sizes))
    assert all(step["on_policy/logprob_gap_of_rounding"] == 0 for step in steps(messages))
    failed = worker.run_job("b", step_0, tmp_path / "b", path, require_sampled_context=True)[-1]
    assert failed["kind"] == "job_failed"
    place = (
        "trajectory_groups[0].trajectories[1].messages_and_choices[1]: it does not carry the token ids of its prompt"
    )
    assert failed["error_message"].startswith(place)


def test_ages_and_biases_are_counted(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = sums(tokenizer, 6)
    for index, turn in enumerate(turns_of(groups)):
        turn["policy"] = [
            {"step": 4, "biased_by": ["top_p"]},
            {"step": 2, "biased_by": ["top_p", "min_p"]},
            None,
            {"step": 3, "biased_by": []},
        ][index % 4]
    for one in groups:
        one["trajectories"][2]["initial_policy_version"] = 1
    sizes = [len(turn["logprobs"]["content"]) for turn in turns_of(groups)]
    messages = worker.run_job("a", step_0, tmp_path / "a", write_lines(tmp_path / "g", groups), policy_step=4, **SMALL)
    last = messages[-1]["metrics"]
    assert last["on_policy/tokens_biased"] == sum(sizes[0::4]) + sum(sizes[1::4])
    assert last["on_policy/tokens_biased_by_top_p"] == last["on_policy/tokens_biased"]
    assert last["on_policy/tokens_biased_by_min_p"] == sum(sizes[1::4])
    assert last["on_policy/versions_behind_max"] == 3
    ages = [[0, 2, 3, 1][index % 4] * size for index, size in enumerate(sizes)]
    assert last["on_policy/versions_behind_mean"] == pytest.approx(sum(ages) / sum(sizes))
    assert sum(step["on_policy/tokens_biased"] for step in steps(messages)) == last["on_policy/tokens_biased"]


@pytest.mark.parametrize("step", [-1, 5, 10**30, -(10**30), 1e30, 3.5])
@pytest.mark.parametrize("said_by", ["choice", "trajectory"])
def test_a_step_that_the_policy_has_not_had_is_unknown(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, said_by: str, step: float
) -> None:
    groups = sums(tokenizer, 2)
    turns_of(groups)[0]["policy"] = {"step": 3, "biased_by": []}
    if said_by == "choice":
        turns_of(groups)[1]["policy"] = {"step": step, "biased_by": []}
    else:
        groups[0]["trajectories"][1]["initial_policy_version"] = step
    groups_path = write_lines(tmp_path / "g", groups)
    messages = worker.run_job("a", step_0, tmp_path / "a", groups_path, policy_step=4)
    (metrics,) = steps(messages)
    assert metrics["on_policy/versions_behind_mean"] == metrics["on_policy/versions_behind_max"] == 1
    assert metrics["on_policy/tokens_with_version"] == len(turns_of(groups)[0]["logprobs"]["content"])


def test_no_number_that_json_lacks(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2, logprob=-1e4))
    messages = worker.run_job("a", step_0, tmp_path / "a", groups)
    (metrics,) = steps(messages)
    assert metrics["on_policy/ratio_mean"] == pytest.approx(math.exp(20))
    assert metrics["on_policy/share_clipped"] == 1
    assert all(isinstance(value, float) and math.isfinite(value) for value in messages[-1]["metrics"].values())


def test_metrics_of_steps_become_those_of_the_job() -> None:
    first = {
        "loss": 1.0,
        "num_trainable_tokens": 10.0,
        "on_policy/logprob_gap_mean": 0.5,
        "on_policy/logprob_gap_max": 2.0,
        "on_policy/tokens_with_logprobs": 10.0,
        "on_policy/ratio_mean": 1.0,
    }
    second = {
        "loss": 2.0,
        "num_trainable_tokens": 30.0,
        "on_policy/tokens_with_logprobs": 0.0,
        "on_policy/ratio_mean": 2.0,
    }
    third = {"num_trainable_tokens": 0.0, "on_policy/logprob_gap_mean": 0.1, "on_policy/tokens_with_logprobs": 30.0}
    assert metrics.of_job([first, second, third | {"on_policy/tokens_biased_by_top_p": 4.0}]) == pytest.approx(
        {
            "loss": 1.5,
            "num_trainable_tokens": 40.0,
            "num_trajectories": 0.0,
            "num_gradient_steps": 3.0,
            "on_policy/logprob_gap_mean": 0.2,
            "on_policy/logprob_gap_max": 2.0,
            "on_policy/tokens_with_logprobs": 40.0,
            "on_policy/ratio_mean": 1.75,
            "on_policy/tokens_biased_by_top_p": 4.0,
        }
    )


def test_the_penalty_refers_to_the_base_or_to_a_checkpoint(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 6))
    options: Json = {**SMALL, "learning_rate": 5e-3}
    worker.run_job("a", step_0, tmp_path / "step-1", groups, **options)
    free = worker.run_job("b", tmp_path / "step-1", tmp_path / "free", groups, **options)
    assert all("kl_policy_ref" not in step for step in steps(free))
    to_base = worker.run_job("c", tmp_path / "step-1", tmp_path / "base", groups, **options, kl_penalty_coef=0.5)
    for step in steps(to_base):
        assert step["kl_policy_ref"] == pytest.approx(step["on_policy/kl_to_base"], abs=1e-6)
    to_own = worker.run_job(
        "d",
        tmp_path / "step-1",
        tmp_path / "own",
        groups,
        **options,
        kl_penalty_coef=0.5,
        reference=tmp_path / "step-1",
    )
    assert steps(to_own)[0]["kl_policy_ref"] == pytest.approx(0, abs=1e-6)
    assert abs(steps(to_own)[-1]["kl_policy_ref"]) > 1e-4
    # Step 0 is the base with an adapter that changes nothing.
    to_zero = worker.run_job(
        "e", tmp_path / "step-1", tmp_path / "zero", groups, **options, kl_penalty_coef=0.5, reference=step_0
    )
    assert [step["kl_policy_ref"] for step in steps(to_zero)] == pytest.approx(
        [step["kl_policy_ref"] for step in steps(to_base)], abs=1e-5
    )
    weights = {run: files(tmp_path / run)["adapter_model.safetensors"] for run in ("free", "base", "own")}
    assert len(set(weights.values())) == 3


def test_a_reference_with_another_alpha(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2))
    other = tmp_path / "other"
    worker.run_job("a", step_0, other, groups)
    config = other / "adapter_config.json"
    config.write_text(config.read_text().replace('"lora_alpha": 16', '"lora_alpha": 32'))
    failed = worker.run_job("b", step_0, tmp_path / "none", groups, kl_penalty_coef=0.5, reference=other)[-1]
    assert "other layers, ranks or alphas" in failed["error_message"]
    assert worker.run_job("c", step_0, tmp_path / "step-1", groups)[-1]["kind"] == "checkpoint_saved"


def test_training_without_logprobs(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    attempts = [
        trajectory([user("a"), {"role": "assistant", "content": "yes"}], 1.0),
        trajectory([user("a"), {**choice([], content="no"), "logprobs": None}], 0.0),
    ]
    groups = write_lines(tmp_path / "groups", [group(attempts)])
    assert steps(worker.run_job("a", step_0, tmp_path / "a", groups)) == []
    (metrics,) = steps(worker.run_job("b", step_0, tmp_path / "b", groups, allow_training_without_logprobs=True))
    assert metrics["num_trajectories"] == 2
    assert metrics["on_policy/tokens_without_logprobs"] == metrics["num_trainable_tokens"] > 2
    assert metrics["on_policy/ratio_mean"] == 1


def test_the_seed_orders_the_rows(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 6))
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        worker.run_job(name, step_0, tmp_path / name, groups, **SMALL, seed=seed)
    assert files(tmp_path / "a") == files(tmp_path / "b") != files(tmp_path / "c")


def no_progress(*_: object) -> None:
    pass


@pytest.mark.parametrize(
    ("passes", "options", "of_source", "of_base"),
    [
        ("all", {}, [False, True, True], [False, False, True]),
        ("sampled", {}, [False, False, True], [False, False, True]),
        ("none", {}, [False] * 3, [False] * 3),
        ("none", {"precalculate_logprobs": True}, [False, True, True], [False] * 3),
        ("none", {"kl_penalty_coef": 0.1}, [False] * 3, [True] * 3),
    ],
)
def test_policies_that_are_asked_for_metrics_alone(
    base: BaseModel,
    tmp_path: Path,
    passes: MetricPasses,
    options: Json,
    of_source: list[bool],
    of_base: list[bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And what an adapter that changes nothing makes superfluous."""
    asked: list[Any] = []
    real = policy.logprobs

    def counted(*arguments: Any) -> Any:
        asked.append(arguments)
        return real(*arguments)

    monkeypatch.setattr("engine.trainer.policy.logprobs", counted)
    create_adapter(base, lora(), tmp_path / "zero")
    sequence = Sequence([5, 6, 7, 8], [False, True, True, True], [-1.0] * 4)
    rows = [to_row([sequence], base.device, share_prefixes=False) for _ in range(3)]
    job: Any = SimpleNamespace(config=rl_config(**options), reference_dir=None)
    with adapter(base, tmp_path / "zero") as model:
        found = measure(
            replace(base, metric_passes=passes), model, rows, 0, job, cast(Any, SimpleNamespace(progress=no_progress))
        )
    assert [measured.source_N is not None for measured in found] == of_source
    assert [measured.base_N is not None for measured in found] == of_base
    assert [measured.meets_source for measured in found] == [True, False, False]
    known = [wanted and there for wanted, there in zip(of_base, of_source, strict=True)]
    assert len(asked) == sum(of_source) + sum(of_base) - sum(known)


def test_metrics_of_steps_are_kept_as_columns() -> None:
    """Each step by itself, and those before it unchanged; a step may lack a metric, or be the first to have one."""
    steps = [{}, {"loss": 0.1, "entropy": 2.0}, {"loss": 1 / 3}, {"grad_norm": 5.0, "loss": -0.0}]
    columns = metrics.Columns()
    for number in (1, 2, 2, 4):
        columns.append_from(steps[:number])
        assert metrics.steps_of(len(columns), columns.copied()) == steps[:number]
