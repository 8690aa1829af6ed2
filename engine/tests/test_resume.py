"""A job that dies in the middle and is sent again ends as if nothing had happened."""

import json
import shutil
import signal
import threading
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from examples import Json, lora, sums, user, write_lines
from forked import forked_worker
from worker import Worker, files, read_steps, steps, work_dir

from engine.beat import no_beat
from engine.contract import SftConfig, SftJob
from engine.problem import Problem
from engine.trainer import sft
from engine.trainer.model import ADAPTER_FILES, BaseModel, adapter, create_adapter
from engine.trainer.state import PROGRESS_FILE, TRAINING_FILES, ProgressKeeper, trainable
from engine.workspace import SharedFolder

HANGS_S = 60  # ends what would never end
RL: Json = {"packed_sequence_length": 160, "learning_rate": 3e-3, "kl_penalty_coef": 0.1, "seed": 7}


def untimed(messages: list[Json]) -> list[Json]:
    """What a job reports, without its heartbeat and without what depends on the clock."""
    kept = [message for message in messages if message["kind"] != "job_progress"]
    for message in kept:
        del message["sequence"]
        message.get("metrics", {}).pop("tokens_per_second", None)
        message.pop("directory", None)
    return kept


def start(worker: Worker, kind: str, source: Path, output: Path, tokenizer: Any) -> None:
    data = output.with_name("data")
    if kind == "sft":
        lines = [{"messages": [user(f"{i}?"), {"role": "assistant", "content": "yes " * i}]} for i in range(9)]
        worker.start_sft("j", source, output, write_lines(data, lines), learning_rate=[5e-3, 4e-3, 3e-3, 2e-3, 1e-3])
    else:
        options: Json = {**RL, "precalculate_logprobs": kind == "rl, old logprobs calculated anew"}
        worker.start_job("j", source, output, write_lines(data, sums(tokenizer, 5)), **options)


@pytest.mark.parametrize("kind", ["rl", "rl, old logprobs calculated anew", "sft"])
def test_a_job_killed_in_the_middle(step_0: Path, tokenizer: Any, tmp_path: Path, kind: str) -> None:
    """By workers of several threads, which add in the same order each time."""
    with forked_worker(threads=2) as worker:
        worker.read()
        start(worker, kind, step_0, tmp_path / "whole", tokenizer)
        whole = worker.read_job()
    assert len(steps(whole)) >= 4
    with forked_worker(threads=2, killed_at=("torch.optim.AdamW.step", 3)) as dying:
        dying.read()
        start(dying, kind, step_0, tmp_path / "resumed", tokenizer)
        assert dying.process.wait() == -signal.SIGKILL
    assert not (tmp_path / "resumed").exists()
    with forked_worker(threads=2) as other:
        other.read()
        start(other, kind, step_0, tmp_path / "resumed", tokenizer)
        resumed = other.read_job()
    assert files(tmp_path / "resumed") == files(tmp_path / "whole")
    assert untimed(resumed) == untimed(whole)


def test_a_kill_between_jobs_and_inside_one(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    """Two jobs, a kill in the third, and on: the same as four jobs."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 5))
    for run in ("whole", "broken"):
        source = step_0
        for number in range(4):
            output = tmp_path / f"{run}-{number}"
            if run == "broken" and number == 2:
                with forked_worker() as dying:
                    dying.read()
                    dying.start_job("j", source, output, groups, **RL)
                    read_steps(dying, 1)
                    dying.process.kill()
            assert worker.run_job("j", source, output, groups, **RL)[-1]["kind"] == "checkpoint_saved"
            source = output
    assert files(tmp_path / "broken-3") == files(tmp_path / "whole-3")


class Whole:
    """A job that nothing interrupted, which those below are compared with."""

    def __init__(self, worker: Worker, folder: Path, tokenizer: Any) -> None:
        self.groups = write_lines(folder / "groups", sums(tokenizer, 5))
        self.output = folder / "whole"
        worker.create_adapter(folder / "step-0")
        self.messages = untimed(worker.run_job("j", folder / "step-0", self.output, self.groups, **RL))
        assert len(steps(self.messages)) >= 4


@pytest.fixture(scope="module")
def whole(worker: Worker, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Whole:
    return Whole(worker, tmp_path_factory.mktemp("whole"), tokenizer)


@pytest.mark.parametrize("damage", ["cut off", "one bit", "empty", "other content"])
def test_a_damaged_state_is_ignored(worker: Worker, whole: Whole, step_0: Path, tmp_path: Path, damage: str) -> None:
    shutil.copytree(work_dir(whole.output), work_dir(tmp_path / "again"))
    state = work_dir(tmp_path / "again") / PROGRESS_FILE
    content = bytearray(state.read_bytes())
    if damage == "one bit":
        content[len(content) // 2] ^= 1
    state.write_bytes({"cut off": content[:-100], "one bit": content, "empty": b"", "other content": b"{}"}[damage])
    again = worker.run_job("j", step_0, tmp_path / "again", whole.groups, **RL)
    assert again[-1]["kind"] == "checkpoint_saved"
    assert files(tmp_path / "again") == files(whole.output)


def test_what_was_done_is_not_done_again(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    """After the last step but one, all that is left is the last."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 5))
    first = worker.run_job("j", step_0, tmp_path / "step-1", groups, **RL)
    state = work_dir(tmp_path / "step-1") / PROGRESS_FILE
    kept = state.stat().st_mtime_ns
    shutil.move(tmp_path / "step-1", tmp_path / "first")
    second = worker.run_job("j", step_0, tmp_path / "step-1", groups, **RL)
    assert state.stat().st_mtime_ns == kept
    assert untimed(second) == untimed(first)
    assert files(tmp_path / "step-1") == files(tmp_path / "first")


KILLS = {
    "loading the adapter": ("engine.trainer.model.load_weights", 1),
    "tokenizing": ("engine.trainer.data.add_group", 3),
    "a forward pass": ("engine.trainer.policy.predict", 5),
    "a backward pass": ("engine.trainer.low_rank.AddLowRank.backward", 40),
    "a step of the optimizer": ("torch.optim.AdamW.step", 3),
    "writing the state": ("pathlib.Path.replace", 2),
    "writing the checkpoint": ("engine.trainer.state.save_training", 1),
}


@pytest.mark.parametrize(
    ("phase", "processes"),
    [*((phase, 1) for phase in KILLS), ("writing the state", 2)],
)
def test_a_kill_in_any_phase(
    worker: Worker, whole: Whole, step_0: Path, tmp_path: Path, phase: str, processes: int
) -> None:
    with forked_worker(processes=processes, killed_at=KILLS[phase]) as dying:
        dying.read()
        dying.start_job("j", step_0, tmp_path / "resumed", whole.groups, **RL)
        assert dying.process.wait() == -signal.SIGKILL
    assert not (tmp_path / "resumed").exists()
    resumed = worker.run_job("j", step_0, tmp_path / "resumed", whole.groups, **RL)
    assert len(steps(resumed)) == len(steps(whole.messages))
    # Two processes add in another order.
    if processes == 1:
        assert untimed(resumed) == whole.messages
        assert files(tmp_path / "resumed") == files(whole.output)


def test_a_kill_in_a_merge(worker: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    worker.run_job("j", step_0, tmp_path / "step-1", write_lines(tmp_path / "groups", sums(tokenizer, 2)))
    with forked_worker(killed_at=("engine.trainer.merge.describe", 1)) as dying:
        dying.read()
        dying.start_merge(tmp_path / "step-1", tmp_path / "merged")
        assert dying.process.wait() == -signal.SIGKILL
    assert not (tmp_path / "merged").exists()
    assert worker.merge(tmp_path / "step-1", tmp_path / "merged")["kind"] == "adapter_merged"
    worker.merge(tmp_path / "step-1", tmp_path / "again")
    assert files(tmp_path / "merged") == files(tmp_path / "again")


class Slow:
    """Stands in for a disk that takes its time: each write waits until it is let go."""

    def __init__(self) -> None:
        self.written: list[int] = []
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)

    def write(self, state: dict[str, Any], _: Path) -> None:
        self.begun.release()
        self.go.acquire()
        self.written.append(state["num_steps"])
        if state["num_steps"] == 9:
            raise OSError("no room")


def sft_of(base: BaseModel, folder: Path, lines: list[Json], report: Any) -> Path:
    """Where it was saved."""
    create_adapter(base, lora(), folder / "source")
    config = SftConfig(batch_size=1, learning_rate=1e-3, assistant_turns="all")
    paths = {
        "checkpoint_dir": str(folder / "source"),
        "output_dir": str(folder / "output"),
        "work_dir": str(folder / "work"),
        "data_path": str(write_lines(folder / "data", lines)),
    }
    sft.train(base, SftJob(kind="sft_job", job_id="j", config=config, **paths), report)
    return folder / "output"


def test_a_checkpoint_whose_source_is_gone_is_whole(base: BaseModel, tmp_path: Path) -> None:
    """Another server may have deleted it while the job ran."""
    described: list[bytes] = []

    def lose_source(*_: object) -> None:
        described.append((tmp_path / "source" / "adapter_config.json").read_bytes())
        shutil.rmtree(tmp_path / "source")

    def nothing(*_: object) -> None:
        pass

    report: Any = SimpleNamespace(progress=nothing, started=nothing, gradient_step=lose_source)
    lines = [{"messages": [user("a"), {"role": "assistant", "content": "b"}]}]
    saved = files(sft_of(base, tmp_path, lines, report))
    assert sorted(saved) == sorted((*ADAPTER_FILES, *TRAINING_FILES))
    assert [saved["adapter_config.json"]] == described
    # Without a step, the checkpoint is the source.
    report.started = lose_source
    shutil.rmtree(tmp_path / "output")
    with pytest.raises(Problem, match=r"the checkpoint source has lost its adapter_config.json while the job ran"):
        sft_of(base, tmp_path, [], report)
    assert not (tmp_path / "output").exists()


def test_steps_do_not_wait_for_the_disk(base: BaseModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr("engine.trainer.state.write_progress", slow.write)
    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model:
        optimizer = torch.optim.AdamW([*trainable(model).values()])
        keeper = ProgressKeeper(tmp_path / "work", no_beat)
        keeper.keep([{}], optimizer, model)
        slow.begun.acquire()
        for count in (2, 3, 4):
            keeper.keep([{}] * count, optimizer, model)
        slow.go.release(2)
        assert keeper.wait(HANGS_S)
        assert slow.written == [1, 4]
        keeper.keep([{}] * 5, optimizer, model)
        slow.begun.acquire()
        slow.begun.acquire()
        keeper.keep([{}] * 6, optimizer, model)
        keeper.close()
        slow.go.release()
        assert keeper.wait(HANGS_S)
        assert slow.written == [1, 4, 5]
        keeper.keep([{}] * 9, optimizer, model)
        slow.go.release()
        with pytest.raises(OSError, match="no room"):
            keeper.wait(HANGS_S)


class Panic(BaseException):
    """As libraries in Rust raise it."""


@pytest.mark.parametrize(
    ("error", "ends"),
    [
        (Problem("the bucket is away"), False),
        (KeyError("generation"), True),
        (FileNotFoundError(), True),
        (Panic(), True),
    ],
    ids=repr,
)
def test_a_state_that_is_not_published(base: BaseModel, tmp_path: Path, error: BaseException, ends: bool) -> None:
    def publish() -> None:
        raise error

    create_adapter(base, lora(), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model, closing(ProgressKeeper(tmp_path / "work", publish)) as keeper:
        optimizer = torch.optim.AdamW([*trainable(model).values()])
        keeper.keep([{}], optimizer, model)
        if ends:
            with pytest.raises(type(error)):
                keeper.wait(HANGS_S)
        assert ends or keeper.wait(HANGS_S)


def never_publish_states() -> None:
    """In a worker: each state is on its way without end."""

    def publish(self: SharedFolder, name: str) -> None:
        if name.endswith(".work"):
            threading.Event().wait()

    SharedFolder.publish = publish


@pytest.mark.parametrize("processes", [1, 2])
def test_a_cancel_while_the_last_state_is_published(
    step_0: Path, tokenizer: Any, tmp_path: Path, processes: int
) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 5))
    with forked_worker(processes=processes, prepare=never_publish_states) as worker:
        worker.read()
        worker.start_job("j", step_0, tmp_path / "none", groups, **RL)
        while (message := worker.read())["kind"] != "training_started":
            pass
        read_steps(worker, message["num_sequences"])
        worker.read()
        worker.write(json.dumps({"kind": "cancel_job", "job_id": "j"}))
        # It sends a heartbeat a second.
        assert any(worker.read()["kind"] == "job_cancelled" for _ in range(HANGS_S))
        assert not (tmp_path / "none").exists()
        # All processes are ready for more.
        assert worker.merge(step_0, tmp_path / "merged")["kind"] == "adapter_merged"
