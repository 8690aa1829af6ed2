"""Whatever goes wrong, the worker says what and what to do, and goes on with the next request."""

import math
import resource
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from examples import LOOM_TINY, Json, choice, group, sums, trajectory, user, write_lines
from forked import forked_worker
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from worker import Worker, work_dir

from engine.trainer.errors import Problem, may_pass
from engine.trainer.training import require_finite_weights

MIB = 1024 * 1024


@contextmanager
def limited(worker: Worker, limit: int, value: int) -> Generator[None]:
    """Only the soft limit, so that it can be raised again."""
    soft, hard = resource.prlimit(worker.process.pid, limit)
    resource.prlimit(worker.process.pid, limit, (value, hard))
    try:
        yield
    finally:
        resource.prlimit(worker.process.pid, limit, (soft, hard))


def assert_goes_on(worker: Worker, source: Path, tokenizer: Any, folder: Path) -> None:
    good = write_lines(folder / "good", sums(tokenizer, 1))
    assert worker.run_job("good", source, folder / "good-1", good)[-1]["kind"] == "checkpoint_saved"


def test_a_loss_that_is_no_number(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2))
    source = tmp_path / "damaged"
    shutil.copytree(step_0, source)
    weights = load_file(source / "adapter_model.safetensors")
    save_file({name: tensor * float("nan") for name, tensor in weights.items()}, source / "adapter_model.safetensors")
    failed = worker.run_job("j1", source, tmp_path / "none", groups, ppo=True)[-1]
    assert failed["kind"] == "job_failed"
    assert "the loss of a step is" in failed["error_message"]
    assert "lower learning_rate" in failed["error_message"]
    assert not (tmp_path / "none").exists()
    assert_goes_on(worker, step_0, tokenizer, tmp_path)


@pytest.mark.parametrize("learning_rate", [1e4, 1e9, 1e20])
@pytest.mark.parametrize("kind", ["rl", "sft"])
def test_a_last_step_that_destroys_the_weights(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, kind: str, learning_rate: float
) -> None:
    """No later step of the job would meet what it left. The square of 1e20 is more than a float32 holds; whether
    gradients of smaller weights overflow depends on how a processor multiplies, but what is saved can be trained on."""

    def train(name: str, source: Path, rate: float) -> list[Json]:
        if kind == "rl":
            groups = write_lines(tmp_path / "groups", sums(tokenizer, 2))
            return worker.run_job(name, source, tmp_path / name, groups, learning_rate=rate)
        data = write_lines(tmp_path / "data", [{"messages": [user("a"), {"role": "assistant", "content": "b"}]}])
        return worker.run_sft(name, source, tmp_path / name, data, learning_rate=rate)

    messages = train("j1", step_0, learning_rate)
    if learning_rate < 1e20 and messages[-1]["kind"] == "checkpoint_saved":
        assert train("j2", tmp_path / "j1", 1e-5)[-1]["kind"] == "checkpoint_saved"
        return
    assert kinds(messages) == ["training_started", "gradient_step", "job_failed"]
    assert "after the last step" in messages[-1]["error_message"]
    assert "lower learning_rate" in messages[-1]["error_message"]
    assert not (tmp_path / "j1").exists()
    assert_goes_on(worker, step_0, tokenizer, tmp_path)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_weight_that_is_no_number(value: float) -> None:
    layer = torch.nn.Linear(2, 2)
    require_finite_weights(layer)
    layer.weight.data[1, 0] = value
    with pytest.raises(Problem, match="the weights are not finite"):
        require_finite_weights(layer)


def test_out_of_memory(tokenizer: Any, tmp_path: Path) -> None:
    """A row of many long sequences in a worker that may take 100 MiB more."""
    turn = choice([5] * 300)
    long = [group([trajectory([user(f"{i} " * 300), turn], float(i % 2)) for i in range(40)])]
    groups = write_lines(tmp_path / "groups", long)
    with forked_worker() as worker:
        worker.read()
        worker.create_adapter(tmp_path / "step-0")
        assert_goes_on(worker, tmp_path / "step-0", tokenizer, tmp_path)
        size = psutil.Process(worker.process.pid).memory_info().vms
        with limited(worker, resource.RLIMIT_AS, size + 100 * MIB):
            failed = worker.run_job("j1", tmp_path / "step-0", tmp_path / "none", groups, packed_sequence_length=50_000)
        assert failed[-1]["kind"] == "job_failed"
        assert "train on shorter trajectories, set HEDDLE_GRADIENT_CHECKPOINTING=on" in failed[-1]["error_message"]
        assert_goes_on(worker, tmp_path / "step-0", tokenizer, tmp_path)


@pytest.mark.parametrize("when", ["keeping progress", "saving", "creating", "merging"])
def test_disk_full(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, when: str) -> None:
    """A limit on the size of files stands in for a full disk: the same calls fail in the same places."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 5))
    with limited(worker, resource.RLIMIT_FSIZE, 64 * 1024):
        if when == "creating":
            message = worker.create_adapter(tmp_path / "none")
        elif when == "merging":
            message = worker.merge(step_0, tmp_path / "none")
        else:
            length = 160 if when == "keeping progress" else 10_000
            message = worker.run_job("j1", step_0, tmp_path / "none", groups, packed_sequence_length=length)[-1]
    assert message["kind"] in ("job_failed", "request_failed")
    assert "the disk is full" in message["error_message"]
    left = {path.name for path in tmp_path.iterdir()} - {"groups", "step-0"}
    assert left <= {work_dir(tmp_path / "none").name}
    assert list(tmp_path.glob("*.work/*")) == []
    assert_goes_on(worker, step_0, tokenizer, tmp_path)


def kinds(messages: list[Json]) -> list[str]:
    return [message["kind"] for message in messages if message["kind"] != "job_progress"]


def test_trajectories_longer_than_the_context_are_dropped(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    groups = sums(tokenizer, 2)
    long = choice([5] * 3000)
    groups[0]["trajectories"][1]["messages_and_choices"][-1] = long
    some = worker.run_job("j1", step_0, tmp_path / "some", write_lines(tmp_path / "a", groups))
    assert kinds(some) == ["training_started", "gradient_step", "checkpoint_saved"]
    assert some[-1]["metrics"]["num_sequences_too_long"] == 1
    for attempt in [attempt for one in groups for attempt in one["trajectories"]]:
        attempt["messages_and_choices"][-1] = long
    none = worker.run_job("j2", step_0, tmp_path / "all", write_lines(tmp_path / "b", groups))
    assert kinds(none) == ["training_started", "checkpoint_saved"]
    assert none[-1]["metrics"]["num_sequences_too_long"] == 8


@pytest.mark.parametrize(
    "rewards", [[], [1.0], [0.1, 0.1, 0.1], [0.5, 0.5]], ids=["no trajectory", "one", "0.1 three times", "equal"]
)
def test_groups_without_advantages(worker: Worker, step_0: Path, tmp_path: Path, rewards: list[float]) -> None:
    one = group([trajectory([user("a"), choice([5, 6])], reward) for reward in rewards])
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", write_lines(tmp_path / "groups", [one, one]))
    assert kinds(messages) == ["training_started", "checkpoint_saved"]
    assert messages[-1]["metrics"]["num_groups_trainable"] == 0


def test_an_empty_trajectory_counts_by_its_reward_alone(
    worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    groups = sums(tokenizer, 1)
    groups[0]["trajectories"].append(trajectory([], 1.0))
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", write_lines(tmp_path / "groups", groups))
    assert kinds(messages) == ["training_started", "gradient_step", "checkpoint_saved"]
    assert messages[-1]["metrics"]["reward"] == 2 / 5
    assert messages[-1]["metrics"]["num_trajectories"] == 4


def test_wrong_logprobs_are_named(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = sums(tokenizer, 3)
    groups[2]["trajectories"][1]["messages_and_choices"][1]["logprobs"]["content"][0]["logprob"] = "-0.5"
    failed = worker.run_job("j1", step_0, tmp_path / "none", write_lines(tmp_path / "groups", groups))[-1]
    assert failed["error_message"] == (
        "trajectory_groups[2].trajectories[1].messages_and_choices[1].logprobs.content[0]: "
        "the logprob '-0.5' is no number: send it as the chat completion returned it"
    )


def test_the_log_has_nothing_of_what_a_user_sent(tmp_path: Path) -> None:
    """If the worker ends during the next job, the last lines of the log are shown to that job's user."""
    bad = {"role": "user", "content": [{"type": "Jane Doe", "text": "x"}]}
    groups = write_lines(tmp_path / "groups", [group([trajectory([bad, choice([5, 6])], float(i)) for i in range(2)])])
    with forked_worker() as worker:
        worker.read()
        worker.create_adapter(tmp_path / "step-0")
        failed = worker.run_job("j1", tmp_path / "step-0", tmp_path / "none", groups)[-1]
        assert "Jane Doe" in failed["error_message"]
        worker.close_stdin()
        worker.process.wait(timeout=60)
        assert worker.process.stderr is not None
        log = worker.process.stderr.read()
    assert "Jane Doe" not in log
    assert "Traceback" not in log


@pytest.mark.parametrize("missing", ["", "model.safetensors", "config.json", "tokenizer.json", "chat_template.jinja"])
def test_a_base_model_that_cannot_be_loaded(tmp_path: Path, missing: str) -> None:
    model = tmp_path / "model"
    if missing:
        shutil.copytree(LOOM_TINY, model)
        (model / missing).unlink()
    with forked_worker(model) as worker:
        # Its stdin stays open: the end of that would be an end of its own.
        assert worker.process.wait(timeout=120) == 1
        assert worker.process.stdout is not None and worker.process.stderr is not None
        assert '"kind":"base_model_unusable"' in worker.process.stdout.read()
        last = worker.process.stderr.read().strip().splitlines()[-1]
    assert last.startswith(f"The trainer cannot start: the base model {model} ")
    assert "chat_template.jinja" in last if missing == "chat_template.jinja" else "must be a folder with" in last


def test_an_error_at_the_start(tmp_path: Path) -> None:
    """Of any kind: here one of the operating system."""
    (tmp_path / "file").write_text("")
    flags = ["--workspace=s3://bucket", f"--workspace-copies={tmp_path}/file/copies"]
    with forked_worker(flags=flags) as worker:
        # Its stdin stays open, as in the test above.
        assert worker.process.wait(timeout=120) == 1
        assert worker.process.stderr is not None
        last = worker.process.stderr.read().strip().splitlines()[-1]
    assert last.startswith("The trainer cannot start: NotADirectoryError: ")


def test_a_long_row_is_never_silent(worker: Worker, step_0: Path, tmp_path: Path) -> None:
    """One row of several batches: its heartbeat is denser than its steps."""
    long = [trajectory([user("a"), choice([5 + i] * (700 + 50 * i))], float(i % 2)) for i in range(8)]
    groups = write_lines(tmp_path / "groups", [group(long)])
    messages = worker.run_job("j1", step_0, tmp_path / "step-1", groups, packed_sequence_length=10_000)
    beats = [message for message in messages if message.get("phase") == "training"]
    assert kinds(messages).count("gradient_step") == 1
    assert len(beats) >= 3


def test_starts_that_may_succeed_later() -> None:
    """The cause is in what the problem was raised from."""
    for cause in (MemoryError(), TimeoutError(), ConnectionRefusedError(), RuntimeError("CUDA error: device is busy")):
        problem = Problem("the base model cannot be loaded")
        problem.__cause__ = OSError("wrapped")
        problem.__cause__.__cause__ = cause
        assert may_pass(problem)
    assert not may_pass(Problem("the base model has no chat template"))
