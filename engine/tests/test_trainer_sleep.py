"""A trainer that sleeps gives up the memory of its base model, and goes on as if it had not slept. Here on a CPU, where
each tensor moves from one piece of memory to another."""

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from examples import LOOM_TINY, Json, lora, sums, user, write_lines
from forked import forked_worker
from test_ranks import assert_same_files, assert_same_metrics
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from worker import files, steps

from engine.contract import SftConfig, SftJob, Sleep, Wake
from engine.trainer import answers
from engine.trainer.answers import Answers
from engine.trainer.architecture import body_of
from engine.trainer.base_on_device import come_back, leave, move
from engine.trainer.followers import Followers
from engine.trainer.merge import logprobs
from engine.trainer.model import create_adapter, load_base
from engine.trainer.ranks import join, open_store
from engine.workspace import SharedFolder

ROWS: Json = {"packed_sequence_length": 700, "learning_rate": 1e-3, "seed": 7}


def memory_of(model: Any) -> list[StorageWeakRef]:
    """Of every tensor of the model, also those that a weight in 4 bits keeps beside it."""
    held: list[Tensor] = [*model.parameters(), *model.buffers()]
    for parameter in model.parameters():
        state = getattr(parameter, "quant_state", None)
        if state is not None:
            held += [state.absmax, state.code, state.offset, state.state2.absmax, state.state2.code]
    return [StorageWeakRef(getattr(tensor, "_local_tensor", tensor).untyped_storage()) for tensor in held]


def all_free(memory: list[StorageWeakRef]) -> bool:
    return all(cast(bool, cast(Any, one).expired()) for one in memory)


@pytest.mark.parametrize("quantization", ["none", "nf4"])
def test_nothing_of_the_base_stays_where_it_was(quantization: Any) -> None:
    base = load_base(str(LOOM_TINY), "heddle/loom-tiny", quantization=quantization)
    tokens_BT = torch.tensor([base.tokenizer.encode("What is 17 + 25?")])
    before_BT = logprobs(base.model, tokens_BT)
    objects = {name: id(parameter) for name, parameter in base.model.named_parameters()}
    memory = memory_of(base.model)
    assert len(memory) > 50
    for _ in range(2):
        move(base.model, lambda tensor: tensor.clone())
        gc.collect()
        assert all_free(memory)
        memory = memory_of(base.model)
        assert logprobs(base.model, tokens_BT).equal(before_BT)
    assert {name: id(parameter) for name, parameter in base.model.named_parameters()} == objects
    tied = cast(Any, base.model)
    assert tied.lm_head.weight is tied.model.embed_tokens.weight


def test_nothing_of_a_shard_stays_where_it_was() -> None:
    """One process that shards, as several do."""
    base = load_base(str(LOOM_TINY), "heddle/loom-tiny")
    tokens_BT = torch.tensor([base.tokenizer.encode("What is 17 + 25?")])
    before_BT = logprobs(base.model, tokens_BT)
    join(0, 1, open_store()).shard(base.model, body_of(base.model), base.device)
    try:
        for _ in range(2):
            assert torch.allclose(logprobs(base.model, tokens_BT), before_BT, atol=1e-5)
            memory = memory_of(base.model)
            move(base.model, lambda tensor: tensor.clone())
            gc.collect()
            assert all_free(memory)
        assert torch.allclose(logprobs(base.model, tokens_BT), before_BT, atol=1e-5)
    finally:
        torch.distributed.destroy_process_group()


@pytest.mark.parametrize("quantization", ["none", "nf4"])
def test_what_leaves_and_comes_back_is_all_of_it(quantization: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The devices that each tensor is asked to go to."""
    base = load_base(str(LOOM_TINY), "heddle/loom-tiny", quantization=quantization)
    asked: list[tuple[int, Any]] = []

    def observed(model: Any, to: Callable[[Tensor], Tensor]) -> None:
        def and_note(tensor: Tensor) -> Tensor:
            moved = to(tensor)
            asked.append((tensor.numel(), moved.device))
            return moved

        move(model, and_note)

    monkeypatch.setattr("engine.trainer.base_on_device.move", observed)
    for step in (leave, come_back):
        asked.clear()
        step(base)
        assert sum(size for size, _ in asked) >= sum(parameter.numel() for parameter in base.model.parameters())
        assert {device for _, device in asked} == {base.device}


class Collected:
    def __init__(self) -> None:
        self.messages: list[Any] = []

    def send(self, message: Any) -> None:
        self.messages.append(message)

    def close_job(self, *_: object) -> None:
        pass


def test_a_job_leaves_nothing_behind(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What sleep does not move: adapter and optimizer end with their job. And no job runs on a base that sleeps."""
    base = load_base(str(LOOM_TINY), "heddle/loom-tiny")
    create_adapter(base, lora(), tmp_path / "0")
    lessons = [{"messages": [user(f"{i}?"), {"role": "assistant", "content": "yes"}]} for i in range(4)]
    optimizers: list[weakref.ref[Any]] = []
    adapters: list[weakref.ref[Any]] = []

    class Watched(torch.optim.AdamW):
        def __init__(self, parameters: Any, **how: Any) -> None:
            parameters = [*parameters]
            optimizers.append(weakref.ref(self))
            adapters.extend(weakref.ref(parameter) for parameter in parameters)
            super().__init__(parameters, **how)

    monkeypatch.setattr(torch.optim, "AdamW", Watched)
    told = cast(Any, Collected())
    worker = Answers(base, Followers(), SharedFolder(Path()), told, told)

    def train(name: str) -> None:
        job = SftJob(
            kind="sft_job",
            job_id=name,
            checkpoint_dir=str(tmp_path / "0"),
            output_dir=str(tmp_path / name),
            work_dir=str(tmp_path / f"{name}.work"),
            data_path=str(write_lines(tmp_path / "data", lessons)),
            config=SftConfig(batch_size=2, learning_rate=1e-3, assistant_turns="all"),
        )
        worker.train(job, cast(Any, answers.Event()))

    train("1")
    worker.answer(Sleep(kind="sleep", request_id="s"))
    assert len(optimizers) == 1 < len(adapters)
    assert all(one() is None for one in [*optimizers, *adapters])
    train("asleep")
    assert [message.kind for message in told.messages[-2:]] == ["asleep", "job_failed"]
    assert "the trainer is asleep" in told.messages[-1].error_message
    worker.answer(Wake(kind="wake", request_id="w"))
    train("2")
    assert [message.kind for message in told.messages if hasattr(message, "request_id")] == ["asleep", "awake"]
    assert files(tmp_path / "1") == files(tmp_path / "2")


@pytest.mark.parametrize(("processes", "flags"), [(1, ["--base-quantization=nf4"]), (2, [])])
def test_a_job_after_a_sleep_is_the_same(tokenizer: Any, tmp_path: Path, processes: int, flags: list[str]) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 20))
    with forked_worker(processes=processes, flags=flags) as worker:
        worker.read()
        worker.create_adapter(tmp_path / "0")
        before = worker.run_job("j", tmp_path / "0", tmp_path / "before", groups, **ROWS)
        assert before[-1]["kind"] == "checkpoint_saved"
        for _ in range(2):
            assert worker.ask("sleep") == {"kind": "asleep", "request_id": "r3"}
            assert worker.ask("wake") == {"kind": "awake", "request_id": "r3"}
        after = worker.run_job("j", tmp_path / "0", tmp_path / "after", groups, **ROWS)
        merged = worker.merge(tmp_path / "after", tmp_path / "merged")
        worker.process.kill()
    assert_same_metrics(steps(after), steps(before))
    assert_same_files(tmp_path / "after", tmp_path / "before")
    assert merged["logprob_gap_max"] < 1e-4
