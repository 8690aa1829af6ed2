"""The worker over its own pipes, as a process of its own."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from examples import Json, choice, group, sums, trajectory, user, write_lines
from forked import forked_worker
from worker import Worker, files, started_worker, steps


def test_the_same_seed_gives_the_same_adapter(worker: Worker, tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        worker.create_adapter(tmp_path / name, seed)
    assert files(tmp_path / "a") == files(tmp_path / "b") != files(tmp_path / "c")
    assert sorted(files(tmp_path / "a")) == ["adapter_config.json", "adapter_model.safetensors"]
    config = json.loads((tmp_path / "a" / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "heddle/loom-tiny"


def test_an_adapter_that_cannot_be_written(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    message = worker.create_adapter(tmp_path / "file" / "below")
    assert message["kind"] == "request_failed"
    assert "Not a directory" in message["error_message"]
    assert message["error_field"] is None


def test_an_adapter_for_layers_that_the_model_does_not_have(worker: Worker, tmp_path: Path) -> None:
    message = worker.create_adapter(tmp_path / "adapter", targets=["q_proj", "elsewhere"])
    assert message["error_field"] == "lora.target_modules"
    assert "have no linear layers elsewhere" in message["error_message"]


def test_a_job_from_start_to_checkpoint(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 8))
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", groups, packed_sequence_length=256)
    assert [message["sequence"] for message in messages] == list(range(1, len(messages) + 1))
    assert {message["job_id"] for message in messages} == {"j1"}
    kinds = [message["kind"] for message in messages if message["kind"] != "job_progress"]
    metrics = steps(messages)
    assert kinds == ["training_started", *["gradient_step"] * len(metrics), "checkpoint_saved"]
    (started,) = [message for message in messages if message["kind"] == "training_started"]
    assert started["num_sequences"] == len(metrics) > 1
    assert sum(step["num_trajectories"] for step in metrics) == 32
    assert metrics[0]["learning_rate"] == 1e-3
    assert metrics[0]["on_policy/logprob_gap_max"] >= metrics[0]["on_policy/logprob_gap_mean"] > 0
    saved = messages[-1]
    assert saved["directory"] == str(tmp_path / "step-1")
    assert saved["metrics"]["reward"] == 0.25
    assert saved["metrics"]["num_groups_trainable"] == saved["metrics"]["num_groups_submitted"] == 8
    assert saved["metrics"]["num_gradient_steps"] == len(metrics)
    trained = files(tmp_path / "step-1")
    assert sorted(trained) == [
        "adapter_config.json",
        "adapter_model.safetensors",
        "optimizer.safetensors",
        "trainer_state.json",
    ]
    assert trained["adapter_config.json"] == files(step_0)["adapter_config.json"]
    assert trained["adapter_model.safetensors"] != files(step_0)["adapter_model.safetensors"]


def test_going_on_in_a_new_process_equals_going_on_in_this_one(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 8))
    options: Json = {"packed_sequence_length": 256, "precalculate_logprobs": True}
    worker.run_job("j1", step_0, tmp_path / "step-1", groups, **options)
    warm = worker.run_job("j2", tmp_path / "step-1", tmp_path / "warm", groups, **options)
    with forked_worker() as other:
        other.read()
        cold = other.run_job("j2", tmp_path / "step-1", tmp_path / "cold", groups, **options)
    assert files(tmp_path / "warm") == files(tmp_path / "cold") != files(tmp_path / "step-1")
    assert steps(warm) == steps(cold)


@pytest.mark.parametrize("kind", ["none", "equal rewards", "no logprobs"])
def test_nothing_to_train_on(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, kind: str) -> None:
    groups = [] if kind == "none" else sums(tokenizer, 2)
    for attempt in [attempt for one in groups for attempt in one["trajectories"]]:
        if kind == "equal rewards":
            attempt["reward"] = 0.1
        else:
            attempt["messages_and_choices"][-1]["logprobs"] = None
    path = write_lines(tmp_path / "groups", groups)
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", path)
    last = [message for message in messages if message["kind"] != "job_progress"]
    assert [message["kind"] for message in last] == ["training_started", "checkpoint_saved"]
    assert last[0]["num_sequences"] == 0
    assert last[1]["metrics"]["num_groups_trainable"] == last[1]["metrics"]["num_gradient_steps"] == 0
    assert files(tmp_path / "step-1") == files(step_0)


def test_ids_beyond_the_model_are_left_out(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    beyond = group([trajectory([user("x"), choice([99999])], reward) for reward in (0.0, 1.0)])
    groups = write_lines(tmp_path / "groups", [*sums(tokenizer, 1), beyond])
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", groups)
    assert steps(messages)[0]["num_trajectories"] == 4
    assert messages[-1]["metrics"]["num_sequences_with_unknown_tokens"] == 2
    assert messages[-1]["metrics"]["num_groups_trainable"] == 1


def test_tokens_without_logprobs_are_counted(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2, logprob=None))
    (metrics,) = steps(worker.run_job("j1", step_0, tmp_path / "step-1", groups))
    assert metrics["on_policy/tokens_without_logprobs"] == metrics["num_trainable_tokens"] > 0
    assert "on_policy/logprob_gap_mean" not in metrics
    assert metrics["on_policy/share_clipped"] == 0
    assert metrics["on_policy/ratio_mean"] == 1


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{not json\n", "trajectory_groups[1]: it is not JSON"),
        (
            json.dumps(group([trajectory([user("x"), {**choice([5]), "prompt_token_ids": 5}], r) for r in (0.0, 1.0)])),
            "prompt_token_ids",
        ),
        (json.dumps({"trajectories": [{"reward": 1.0}, {"reward": 0.0}]}), "messages_and_choices"),
        (json.dumps(group([trajectory([user("x"), choice([5])], r) for r in (0.0, math.inf)])), "not a finite number"),
    ],
)
def test_a_failing_job_and_then_a_good_one(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, line: str, cause: str
) -> None:
    good = sums(tokenizer, 1)
    bad = write_lines(tmp_path / "bad", good)
    bad.write_text(bad.read_text() + line)
    failed = worker.run_job("bad", step_0, tmp_path / "none", bad)[-1]
    assert failed["kind"] == "job_failed"
    assert cause in failed["error_message"]
    assert not (tmp_path / "none").exists()
    saved = worker.run_job("good", step_0, tmp_path / "step-1", write_lines(tmp_path / "good", good))[-1]
    assert saved["kind"] == "checkpoint_saved"


@pytest.mark.parametrize("damage", ["cut off", "other rank"])
def test_a_damaged_adapter_harms_no_later_job(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, damage: str
) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2))
    worker.run_job("before", step_0, tmp_path / "before", groups)
    shutil.copytree(step_0, tmp_path / "damaged")
    if damage == "cut off":
        weights = tmp_path / "damaged" / "adapter_model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
    else:
        config = tmp_path / "damaged" / "adapter_config.json"
        config.write_text(config.read_text().replace('"r": 8', '"r": 4'))
    assert worker.run_job("bad", tmp_path / "damaged", tmp_path / "none", groups)[-1]["kind"] == "job_failed"
    worker.run_job("after", step_0, tmp_path / "after", groups)
    assert files(tmp_path / "before") == files(tmp_path / "after")


def test_training_goes_on_from_an_adapter_of_another_program(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """Hugging Face's trainers write a trainer_state.json that says other things."""
    (step_0 / "trainer_state.json").write_text('{"global_step": 7, "log_history": []}')
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 1))
    assert worker.run_job("j1", step_0, tmp_path / "step-1", groups)[-1]["kind"] == "checkpoint_saved"
    state = json.loads((tmp_path / "step-1" / "trainer_state.json").read_text())
    assert state == {"kind": "rl", "gradient_steps": 1}


def test_a_missing_checkpoint_fails_the_job(worker: Worker, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 1))
    failed = worker.run_job("j1", tmp_path / "absent", tmp_path / "none", groups)[-1]
    assert failed["kind"] == "job_failed"
    assert "absent" in failed["error_message"]


def test_lines_that_are_no_request_are_ignored(worker: Worker, tmp_path: Path) -> None:
    for line in ("", "{", "[]", '{"kind": "unknown"}', '{"kind": "cancel_job", "job_id": "nobody"}'):
        worker.write(line)
    assert worker.create_adapter(tmp_path / "a")["kind"] == "adapter_created"


def test_cancel(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 99) * 2)
    worker.start_job("running", step_0, tmp_path / "none", groups, packed_sequence_length=256)
    worker.start_job("waiting", step_0, tmp_path / "none", groups)
    seen = [worker.read()]
    while seen[-1]["kind"] != "gradient_step":
        seen.append(worker.read())
    (sequences,) = (message["num_sequences"] for message in seen if message["kind"] == "training_started")
    for job_id in ("waiting", "running"):
        worker.write(json.dumps({"kind": "cancel_job", "job_id": job_id}))
    running = worker.read_job()
    assert running[-1]["kind"] == "job_cancelled"
    # Written before the cancel was read, or the step in progress.
    assert len(steps(running)) < sequences - 1
    waiting = worker.read_job()
    assert waiting[-1]["kind"] == "job_cancelled"
    assert steps(waiting) == []
    assert not (tmp_path / "none").exists()
    assert worker.create_adapter(tmp_path / "a")["kind"] == "adapter_created"


def test_the_end_of_stdin_ends_the_worker_in_the_middle_of_a_job(tokenizer: Any, tmp_path: Path) -> None:
    with started_worker() as worker:
        worker.read()
        worker.create_adapter(tmp_path / "step-0")
        groups = write_lines(tmp_path / "groups", sums(tokenizer, 99) * 2)
        worker.start_job("j1", tmp_path / "step-0", tmp_path / "none", groups, packed_sequence_length=256)
        while worker.read()["kind"] != "gradient_step":
            pass
        worker.close_stdin()
        assert worker.process.wait(timeout=60) == 0
    assert not (tmp_path / "none").exists()
