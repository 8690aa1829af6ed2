"""What only GPUs can show: `pytest -m gpu`. The first half of these ran on an H100; not run yet: what
needs two GPUs, and a vLLM that sleeps."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from examples import LOOM_TINY, Json, disturb, lora, sums, write_lines
from serving import MODEL, OTHER_PORT, logprobs_of_prompt, request, vllm
from worker import Worker, started_worker, steps

from engine.trainer.base_on_device import come_back, leave
from engine.trainer.merge import logprobs, sample_texts
from engine.trainer.model import adapter, create_adapter, load_base

pytestmark = pytest.mark.gpu

NUM_GPUS = torch.cuda.device_count()
one_gpu = pytest.mark.skipif(NUM_GPUS < 1, reason="needs an NVIDIA GPU")
two_gpus = pytest.mark.skipif(NUM_GPUS < 2, reason="needs two NVIDIA GPUs")

ROWS: Json = {"packed_sequence_length": 4000, "learning_rate": 1e-3, "seed": 7}
# The base is in bfloat16, with 8 bits of significand, and sums are made in other orders.
ROUNDING = 0.03
# Of log-probabilities of single tokens, in nats.
GAP_MEAN_MAX, GAP_MAX = 0.05, 0.5
GIB = 2**30
# So that a trainer has room beside it.
SHARE = 0.3
KEY = "test-key"  # only those with it may put vLLM to sleep


def trained(worker: Worker, tokenizer: Any, folder: Path, name: str) -> list[dict[str, float]]:
    source = folder / f"{name}-0"
    worker.create_adapter(source)
    groups = write_lines(folder / f"{name}-groups", sums(tokenizer, 60))
    messages = worker.run_job(name, source, folder / name, groups, **ROWS)
    assert messages[-1]["kind"] == "checkpoint_saved", messages[-1]
    return steps(messages)


@one_gpu
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=two_gpus)])
def test_losses_are_those_of_a_cpu(tokenizer: Any, tmp_path: Path, processes: int) -> None:
    with started_worker(processes=processes) as on_gpus:
        ready = on_gpus.read()
        assert (ready["device"], ready["dtype"]) == ("cuda", "bfloat16")
        found = trained(on_gpus, tokenizer, tmp_path, "gpu")
        merged = on_gpus.merge(tmp_path / "gpu", tmp_path / "merged")
        assert merged["kind"] == "adapter_merged", merged
    with started_worker(CUDA_VISIBLE_DEVICES="") as on_cpu:
        assert on_cpu.read()["device"] == "cpu"
        expected = trained(on_cpu, tokenizer, tmp_path, "cpu")
    for one, other in zip(found, expected, strict=True):
        for name in ("loss", "entropy", "on_policy/ratio_mean"):
            assert one[name] == pytest.approx(other[name], rel=ROUNDING, abs=ROUNDING), name


@one_gpu
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=two_gpus)])
def test_a_base_in_4_bits_learns_what_it_does_on_a_cpu(tokenizer: Any, tmp_path: Path, processes: int) -> None:
    flags = ["--base-quantization=nf4"]
    with started_worker(processes=processes, flags=flags) as on_gpus:
        assert on_gpus.read()["device"].startswith("cuda")
        found = trained(on_gpus, tokenizer, tmp_path, "gpu")
        assert on_gpus.merge(tmp_path / "gpu", tmp_path / "merged")["kind"] == "adapter_merged"
    with started_worker(flags=flags, CUDA_VISIBLE_DEVICES="") as on_cpu:
        on_cpu.read()
        expected = trained(on_cpu, tokenizer, tmp_path, "cpu")
    for one, other in zip(found, expected, strict=True):
        for name in ("loss", "entropy", "on_policy/ratio_mean"):
            assert one[name] == pytest.approx(other[name], rel=ROUNDING, abs=ROUNDING), name


@one_gpu
@pytest.mark.parametrize("quantization", ["none", "nf4"])
def test_a_base_that_sleeps_gives_its_memory_back(quantization: Any) -> None:
    base = load_base(str(LOOM_TINY), "heddle/loom-tiny", quantization=quantization)
    tokens_BT = torch.tensor([base.tokenizer.encode("What is 17 + 25?")], device=base.device)
    before_BT = logprobs(base.model, tokens_BT)
    taken = torch.cuda.memory_allocated()
    of_weights = sum(parameter.nbytes for parameter in base.model.parameters())
    leave(base)
    # Kept: the tokens, their log-probabilities, and the workspace of matrix products, 32 MiB on an H100.
    assert torch.cuda.memory_allocated() <= taken - of_weights
    assert all(parameter.device.type == "cpu" for parameter in base.model.parameters())
    come_back(base)
    assert logprobs(base.model, tokens_BT).equal(before_BT)


@two_gpus
def test_two_processes_sleep_and_go_on(tokenizer: Any, tmp_path: Path) -> None:
    with started_worker(processes=2) as pair:
        pair.read()
        before = trained(pair, tokenizer, tmp_path, "before")
        assert [pair.ask(kind)["kind"] for kind in ("sleep", "wake")] == ["asleep", "awake"]
        after = trained(pair, tokenizer, tmp_path, "after")
    for one, other in zip(after, before, strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=ROUNDING, abs=ROUNDING)


@one_gpu
def test_more_processes_than_gpus_do_not_start() -> None:
    with started_worker(processes=NUM_GPUS + 1) as worker:
        assert worker.process.wait(timeout=300) == 1
        assert worker.process.stderr is not None
        log = worker.process.stderr.read()
    assert f"{NUM_GPUS + 1} processes need a GPU each, and {NUM_GPUS} can be seen" in log


def ask(path: str, body: Json | None = None) -> None:
    status, reply = request("POST", path, body, OTHER_PORT, KEY)
    assert status == 200, reply


@one_gpu
@pytest.mark.parametrize("quantization", ["none", "nf4"])
def test_vllm_sleeps_and_answers_as_before_and_as_the_trainer(quantization: Any, tmp_path: Path) -> None:
    base = load_base(str(LOOM_TINY), MODEL, quantization=quantization)
    create_adapter(base, lora(), tmp_path / "adapted")
    disturb(tmp_path / "adapted", 0, 0.02)
    texts = [base.tokenizer.encode(text) for text in sample_texts(base)]
    flags = ["--gpu-memory", str(SHARE), "--sleep-level", "1", "--base-quantization", quantization]
    with vllm(OTHER_PORT, *flags, end="SIGTERM", VLLM_API_KEY=KEY):
        ask("/v1/load_lora_adapter", {"lora_name": "adapted", "lora_path": str(tmp_path / "adapted")})
        before = {
            name: [logprobs_of_prompt(name, ids, OTHER_PORT, KEY) for ids in texts] for name in (MODEL, "adapted")
        }
        free, total = torch.cuda.mem_get_info()
        for _ in range(2):
            ask("/heddle/sleep")
            freed = torch.cuda.mem_get_info()[0] - free
            # All that it took beside its context, its graphs and its adapters.
            assert freed > SHARE * total - 3 * GIB
            ask("/heddle/wake")
            for name, expected in before.items():
                # Keys and values of prompts are gone, so that all is calculated again.
                for ids, one in zip(texts, expected, strict=True):
                    assert logprobs_of_prompt(name, ids, OTHER_PORT, KEY).allclose(one, atol=ROUNDING), name
    with adapter(base, tmp_path / "adapted") as model:
        for name, found in before.items():
            with nullcontext() if name == "adapted" else model.disable_adapter():
                gaps = [
                    (logprobs(model, torch.tensor([ids], device=base.device))[0].cpu() - one).abs()
                    for ids, one in zip(texts, found, strict=True)
                ]
            gap = torch.cat(gaps)
            print(f"{name}, {quantization}: gap to the trainer {gap.mean():.3f} on average, {gap.max():.3f} at most")
            assert gap.mean() < GAP_MEAN_MAX
            assert gap.max() < GAP_MAX
