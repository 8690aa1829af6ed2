"""Several processes train as one does: here two on a CPU, which talk over gloo. None of this ran on GPUs."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import torch
from examples import Json, sums, user, write_lines
from forked import forked_worker
from safetensors.torch import load_file  # pyright: ignore[reportUnknownVariableType]
from worker import Worker, files, read_steps, steps, work_dir

from engine.contract import CancelJob
from engine.trainer.followers import Followers
from engine.trainer.packing import Batch, Prefix, Row
from engine.trainer.ranks import Ranks
from engine.trainer.state import PROGRESS_FILE

# What a sum of float32 numbers in another order makes of metrics that are themselves sums.
ROUNDING = 1e-4
# Of several batches each.
LONG_ROWS: Json = {"packed_sequence_length": 4000, "learning_rate": 1e-3, "seed": 7}


@pytest.fixture(scope="module")
def pair() -> Generator[Worker]:
    with forked_worker(processes=2) as pair:
        assert pair.read()["kind"] == "worker_ready"
        assert pair.process.stderr is not None
        reading = threading.Thread(target=pair.process.stderr.read, daemon=True)
        reading.start()
        yield pair
        pair.process.kill()
        # The other holds the log open until it ends as well.
        reading.join(60)
        assert not reading.is_alive()


def lessons(count: int) -> list[Json]:
    return [{"messages": [user(f"{i}?"), {"role": "assistant", "content": "yes " * (i % 90)}]} for i in range(count)]


def assert_same_metrics(found: list[Json], expected: list[Json]) -> None:
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected, strict=True):
        for metrics in (one, other):
            metrics.pop("tokens_per_second", None)
        assert one == pytest.approx(other, rel=ROUNDING, abs=ROUNDING)


def assert_same_files(found: Path, expected: Path) -> None:
    """To what rounding makes of a weight: Adam's first steps divide by the gradient, so a small one may change sign."""
    assert files(found).keys() == files(expected).keys()
    for name in ("adapter_model.safetensors", "optimizer.safetensors"):
        one, other = load_file(found / name), load_file(expected / name)
        assert one.keys() == other.keys()
        gap = sum((one[key] - other[key]).float().pow(2).sum() for key in one)
        size = sum(other[key].float().pow(2).sum() for key in other)
        assert torch.as_tensor(gap / size).sqrt() < 1e-3, name
    for name in ("adapter_config.json", "trainer_state.json"):
        assert files(found)[name] == files(expected)[name]


@pytest.mark.parametrize("case", ["rl", "rl with a penalty", "a batch for one of them", "sft"])
def test_two_processes_train_as_one(
    worker: Worker, pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, case: str
) -> None:
    def train(by: Worker, output: Path) -> list[Json]:
        if case == "sft":
            data = write_lines(tmp_path / "data", lessons(120))
            return by.run_sft("j", step_0, output, data, batch_size=60)
        groups = write_lines(tmp_path / "groups", sums(tokenizer, 6 if case == "a batch for one of them" else 60))
        more: Json = {"kl_penalty_coef": 0.1} if case == "rl with a penalty" else {}
        if case == "a batch for one of them":
            more["packed_sequence_length"] = 300
        return by.run_job("j", step_0, output, groups, **LONG_ROWS | more)

    alone, together = train(worker, tmp_path / "alone"), train(pair, tmp_path / "together")
    assert_same_metrics(steps(together), steps(alone))
    assert_same_files(tmp_path / "together", tmp_path / "alone")
    assert [message["sequence"] for message in together] == list(range(1, len(together) + 1))


def test_two_processes_refuse_destroyed_weights(pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 2))
    failed = pair.run_job("bad", step_0, tmp_path / "none", groups, learning_rate=1e20)[-1]
    assert "after the last step" in failed["error_message"]
    assert pair.run_job("good", step_0, tmp_path / "step-1", groups)[-1]["kind"] == "checkpoint_saved"


def other_rank_of(pair: Worker) -> int:
    children = Path(f"/proc/{pair.process.pid}/task/{pair.process.pid}/children").read_text().split()
    (pid,) = [int(pid) for pid in children if "--rank=1" in Path(f"/proc/{pid}/cmdline").read_text()]
    return pid


class Waiting(Followers):
    """The other process never ends a request, as one that waits for the first in a reduction."""

    def _start(self, rank: int, port: int | None) -> "subprocess.Popen[str]":
        return subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def test_an_error_of_the_first_process_alone_is_the_last_line_of_the_log(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def exit_with(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr("engine.trainer.followers.APART_S_MAX", 0.05)
    monkeypatch.setattr(os, "_exit", exit_with)
    with pytest.raises(SystemExit), Waiting(2).at(CancelJob(kind="cancel_job", job_id="j")):
        raise RuntimeError("no kernel image\nfor this device")
    log = capfd.readouterr().err.splitlines()
    assert log[-1] == (
        "The trainer of 2 processes ends: process 0 failed alone: RuntimeError: no kernel image for this device"
    )


def test_another_number_of_processes_goes_on(
    worker: Worker, pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path
) -> None:
    """From a checkpoint of two to one, and from the state inside a job, which is left when one is killed and so all
    end."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 20))
    options: Json = {"packed_sequence_length": 700, "learning_rate": 1e-3}
    worker.run_job("j", step_0, tmp_path / "1", groups, **options)
    whole = worker.run_job("j", tmp_path / "1", tmp_path / "2", groups, **options)
    assert len(steps(whole)) >= 3

    pair.run_job("j", step_0, tmp_path / "pair-1", groups, **options)
    with forked_worker(processes=2) as dying:
        dying.read()
        dying.start_job("j", tmp_path / "pair-1", tmp_path / "pair-2", groups, **options)
        read_steps(dying, 2)
        os.kill(other_rank_of(dying), signal.SIGKILL)
        assert dying.process.wait() == 1
        assert dying.process.stderr is not None
        log = dying.process.stderr.read()
    assert log.splitlines()[-1] == "The trainer of 2 processes ends: process 1 ended (signal 9)"
    assert (work_dir(tmp_path / "pair-2") / PROGRESS_FILE).exists()
    resumed = worker.run_job("j", tmp_path / "pair-1", tmp_path / "pair-2", groups, **options)
    assert_same_metrics(steps(resumed), steps(whole))
    assert_same_files(tmp_path / "pair-2", tmp_path / "2")


def test_a_merge_of_two_processes(worker: Worker, pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    worker.run_job("j", step_0, tmp_path / "step-1", write_lines(tmp_path / "groups", sums(tokenizer, 4)))
    assert worker.merge(tmp_path / "step-1", tmp_path / "alone")["logprob_gap_max"] < 1e-4
    message = pair.merge(tmp_path / "step-1", tmp_path / "together")
    assert message["kind"] == "adapter_merged"
    assert message["logprob_gap_max"] < 1e-4
    assert files(tmp_path / "together") == files(tmp_path / "alone")


def test_what_all_refuse_ends_none(pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 4))
    failed = pair.run_job("j", tmp_path / "nowhere", tmp_path / "none", groups)[-1]
    assert failed["kind"] == "job_failed"
    assert pair.merge(tmp_path / "nowhere", tmp_path / "none")["kind"] == "request_failed"
    assert pair.run_job("j", step_0, tmp_path / "step-1", groups)[-1]["kind"] == "checkpoint_saved"


def test_a_cancelled_job_of_two_processes(pair: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 99) * 2)
    pair.start_job("j", step_0, tmp_path / "none", groups, packed_sequence_length=160)
    read_steps(pair, 1)
    pair.write(json.dumps({"kind": "cancel_job", "job_id": "j"}))
    assert pair.read_job()[-1]["kind"] == "job_cancelled"
    assert not (tmp_path / "none").exists()
    few = write_lines(tmp_path / "few", sums(tokenizer, 4))
    assert pair.run_job("k", step_0, tmp_path / "step-1", few)[-1]["kind"] == "checkpoint_saved"


def batch(prefix: bool, length: int) -> Batch:
    tokens = torch.zeros(1, length, dtype=torch.long)
    shared = Prefix(tokens, torch.zeros(1, dtype=torch.long), torch.ones(1, dtype=torch.long)) if prefix else None
    return Batch(tokens, tokens.bool(), torch.zeros(length, dtype=torch.long), shared)


@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_each_batch_counts_once_and_all_keep_step(size: int) -> None:
    batches = [batch(prefix, length) for prefix, length in [(False, 1), (False, 2), (False, 3), (True, 4), (True, 5)]]
    empty = torch.zeros(0)
    row = Row([], batches, empty, empty, empty, empty)
    dealt = [[*Ranks(rank, size).shares(row)] for rank in range(size)]
    assert sorted(share.part.start for shares in dealt for share in shares if share.counts) == [0, 1, 3, 6, 10]
    for turn in zip(*dealt, strict=True):
        assert len({share.batch.prefix is None for share in turn}) == 1
        assert {share.num_tokens_max for share in turn} == {max(share.batch.num_tokens for share in turn)}
