"""A base in 4 bits trains, resumes and merges as a whole one does, in a quarter of the memory, on a CPU."""

import json
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from bitsandbytes import functional
from examples import LOOM_TINY, Json, disturb, lora, sums, user, write_lines
from forked import forked_worker
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from transformers import AutoModelForCausalLM
from worker import Worker, files, read_steps, steps

from engine.inference.four_bits_in_vllm import check_cut
from engine.trainer import low_rank
from engine.trainer.chat import Sequence
from engine.trainer.errors import Problem
from engine.trainer.four_bits import check_stored, layers_in_four_bits
from engine.trainer.merge import merge_adapter
from engine.trainer.model import BaseModel, adapter, create_adapter, load_base
from engine.trainer.packing import to_row
from engine.trainer.policy import predict
from engine.trainer.state import trainable

FLAG = "--base-quantization=nf4"
CPU = torch.device("cpu")
LESSON: list[Json] = [
    {"messages": [user(f"{i}?"), {"role": "assistant", "content": f"It is {i}, is it not?"}]} for i in range(4)
]


@pytest.fixture(scope="module")
def in_4_bits() -> BaseModel:
    return load_base(str(LOOM_TINY), "heddle/loom-tiny", quantization="nf4")


@pytest.fixture(scope="module")
def worker_in_4_bits() -> Generator[Worker]:
    with forked_worker(flags=[FLAG]) as worker:
        assert worker.read()["kind"] == "worker_ready"
        assert worker.process.stderr is not None
        threading.Thread(target=worker.process.stderr.read, daemon=True).start()
        yield worker


def disturbed_adapter(base: BaseModel, directory: Path) -> Path:
    create_adapter(base, lora(), directory)
    disturb(directory, 0, 0.02)
    return directory


def row_of(share_prefixes: bool) -> Any:
    """Two answers to one prompt."""
    sequences = [Sequence([*range(20, 60), *answer], [False] * 40 + [True] * 9, [-1.0] * 49)
                 for answer in (range(100, 109), range(200, 209))]  # fmt: skip
    return to_row(sequences, CPU, share_prefixes=share_prefixes)


def test_linear_layers_take_a_quarter(base: BaseModel, in_4_bits: BaseModel) -> None:
    layers = layers_in_four_bits(in_4_bits.model)
    assert len(layers) == 4 * 7

    def taken(weight: Any) -> int:
        state = weight.quant_state
        tensors = [weight, state.absmax, state.state2.absmax]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    in_bfloat16 = sum(2 * cast(Any, base.model.get_submodule(name)).weight.numel() for name in layers)
    assert sum(taken(layer.weight) for layer in layers.values()) / in_bfloat16 == pytest.approx(0.258, abs=0.001)
    others = {
        name: parameter for name, parameter in in_4_bits.model.named_parameters() if parameter.dtype != torch.uint8
    }
    assert all(parameter.equal(base.model.get_parameter(name)) for name, parameter in others.items())
    assert "model.embed_tokens.weight" in others


def test_a_fresh_adapter_is_the_one_of_a_whole_base(base: BaseModel, in_4_bits: BaseModel, tmp_path: Path) -> None:
    for name, of in (("whole", base), ("in_4_bits", in_4_bits)):
        create_adapter(of, lora(), tmp_path / name)
    assert files(tmp_path / "whole") == files(tmp_path / "in_4_bits")


@pytest.mark.parametrize("share_prefixes", [False, True])
def test_every_way_to_run_gives_the_same_numbers(in_4_bits: BaseModel, tmp_path: Path, share_prefixes: bool) -> None:
    """With and without gradients, once and twice, and beside PEFT's own layers."""
    directory = disturbed_adapter(in_4_bits, tmp_path / "one")
    found: list[tuple[Tensor, list[Tensor]]] = []
    with adapter(in_4_bits, directory) as model:

        def run(keep: Any) -> None:
            (batch,) = row_of(share_prefixes).batches
            with torch.no_grad():
                plain_M, _ = predict(model, batch)
            logprobs_M, _ = predict(model, batch, keep)
            assert plain_M.equal(logprobs_M)
            gradients = torch.autograd.grad(logprobs_M.sum(), [*trainable(model).values()])
            found.append((logprobs_M.detach(), [*gradients]))

        run("all")
        run("inputs")
        of_peft = [layer for layer in cast(list[Any], [*model.modules()]) if low_rank.is_plain(layer)]
        assert len(of_peft) == 4 * 7
        for layer in of_peft:
            layer.forward = type(layer).forward.__get__(layer)
        run("all")
    (once, gradients), (twice, same), (peft, similar) = found
    assert once.equal(twice)
    assert all(one.equal(other) for one, other in zip(gradients, same, strict=True))
    assert torch.allclose(once, peft, atol=1e-5)
    assert all(torch.allclose(one, other, atol=1e-4) for one, other in zip(gradients, similar, strict=True))


def losses(worker: Worker, source: Path, folder: Path, name: str) -> list[float]:
    data = write_lines(folder / "data", LESSON * 6)
    return [step["loss"] for step in steps(worker.run_sft("j", source, folder / name, data, learning_rate=5e-3))]


def test_training_lowers_the_loss_as_with_a_whole_base(
    worker: Worker, worker_in_4_bits: Worker, step_0: Path, tmp_path: Path
) -> None:
    whole = losses(worker, step_0, tmp_path, "whole")
    in_4_bits = losses(worker_in_4_bits, step_0, tmp_path, "in_4_bits")
    assert in_4_bits[0] != whole[0]
    for found in (whole, in_4_bits):
        assert sum(found[-3:]) < sum(found[:3]) / 3
    assert sum(in_4_bits[-3:]) == pytest.approx(sum(whole[-3:]), rel=0.5)


@pytest.mark.parametrize("flags", [[FLAG], []], ids=["in 4 bits", "whole, whose steps do not count"])
def test_a_job_that_is_killed_ends_as_if_it_had_not_been(
    worker_in_4_bits: Worker, step_0: Path, tokenizer: Any, tmp_path: Path, flags: list[str]
) -> None:
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 5))
    options: Json = {"packed_sequence_length": 160, "learning_rate": 3e-3, "kl_penalty_coef": 0.1, "seed": 7}
    whole = worker_in_4_bits.run_job("j", step_0, tmp_path / "whole", groups, **options)
    assert len(steps(whole)) >= 4
    with forked_worker(flags=flags) as dying:
        dying.read()
        dying.start_job("j", step_0, tmp_path / "resumed", groups, **options)
        read_steps(dying, 2)
        dying.process.kill()
    worker_in_4_bits.run_job("j", step_0, tmp_path / "resumed", groups, **options)
    assert files(tmp_path / "resumed") == files(tmp_path / "whole")


def test_two_processes_train_as_one(worker_in_4_bits: Worker, step_0: Path, tokenizer: Any, tmp_path: Path) -> None:
    """Each has the whole base."""
    groups = write_lines(tmp_path / "groups", sums(tokenizer, 40))
    options: Json = {"packed_sequence_length": 4000, "learning_rate": 1e-3, "seed": 7}
    alone = steps(worker_in_4_bits.run_job("j", step_0, tmp_path / "alone", groups, **options))
    with forked_worker(processes=2, flags=[FLAG]) as pair:
        pair.read()
        together = steps(pair.run_job("j", step_0, tmp_path / "together", groups, **options))
        merged = pair.merge(tmp_path / "together", tmp_path / "merged")
        pair.process.kill()
    assert merged["logprob_gap_max"] < 1e-4
    for one, other in zip(together, alone, strict=True):
        for metrics in (one, other):
            metrics.pop("tokens_per_second", None)
        assert one == pytest.approx(other, rel=1e-4, abs=1e-4)


def test_a_merged_model_is_in_full_precision(base: BaseModel, in_4_bits: BaseModel, tmp_path: Path) -> None:
    """The same files as with a whole base, and the base in memory as before."""
    directory = disturbed_adapter(in_4_bits, tmp_path / "one")
    before = {name: layer.weight.clone() for name, layer in layers_in_four_bits(in_4_bits.model).items()}
    assert merge_adapter(in_4_bits, directory, tmp_path / "in_4_bits") < 1e-4
    merge_adapter(base, directory, tmp_path / "whole")
    assert files(tmp_path / "in_4_bits") == files(tmp_path / "whole")
    assert "quantization_config" not in json.loads((tmp_path / "in_4_bits" / "config.json").read_text())
    AutoModelForCausalLM.from_pretrained(tmp_path / "in_4_bits")
    for name, layer in layers_in_four_bits(in_4_bits.model).items():
        assert layer.weight.equal(before[name])


@pytest.mark.parametrize(
    ("more", "quantization", "problem"),
    [
        ({"model_type": "qwen3_moe", "num_experts": 8}, "nf4", "is not for mixtures of experts"),
        ({"quantization_config": {"quant_method": "fp8"}}, "nf4", r"is quantized \(fp8\)"),
        ({"quantization_config": {"quant_method": "bitsandbytes"}}, "none", "name the model that was quantized"),
        ({"quantization_config": {"quant_method": "fp8"}}, "none", None),
    ],
)
def test_what_cannot_be_quantized_alike_is_refused(
    tmp_path: Path, more: Json, quantization: Any, problem: str | None
) -> None:
    config = json.loads((LOOM_TINY / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | more))
    if problem is None:
        check_stored(str(tmp_path), quantization)
        return
    with pytest.raises(Problem, match=problem):
        check_stored(str(tmp_path), quantization)


def test_blocks_of_a_scale_are_not_cut_by_gpus() -> None:
    check_cut(352, 256, 352, 256)
    check_cut(256, 128, 256, 256)
    check_cut(128, 256, 256, 256)
    with pytest.raises(ValueError, match=r"each has 352 of the 704 inputs .* no multiple of 64: serve on fewer"):
        check_cut(352, 256, 704, 256)


def test_loading_holds_two_weights_at_a_time_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[StorageWeakRef] = []
    most = 0
    own = cast(Any, functional).quantize_4bit

    def quantize(weight: Tensor, **how: Any) -> Any:
        nonlocal most
        seen.append(StorageWeakRef(weight.untyped_storage()))
        most = max(most, sum(not one.expired() for one in seen))
        return own(weight, **how)

    monkeypatch.setattr(functional, "quantize_4bit", quantize)
    load_base(str(LOOM_TINY), "heddle/loom-tiny", quantization="nf4")
    assert len(seen) == 4 * 7
    assert most <= 2
