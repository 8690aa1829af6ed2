"""vLLM with its base in 4 bits, as engine.serve starts it, calculates what a trainer with such a base does."""

from collections.abc import Generator
from pathlib import Path

import pytest
import torch
from examples import LOOM_TINY, disturb, lora
from serving import MODEL, OTHER_PORT, logprobs_of_prompt, request, vllm

from engine.trainer.merge import logprobs, sample_texts
from engine.trainer.model import BaseModel, adapter, create_adapter, load_base

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def in_four_bits() -> Generator[None]:
    with vllm(OTHER_PORT, "--base-quantization", "nf4", end="SIGKILL of the launcher alone"):
        yield


@pytest.mark.parametrize("name", [MODEL, "adapted"])
def test_log_probabilities_are_the_trainers(in_four_bits: None, base: BaseModel, tmp_path: Path, name: str) -> None:
    in_4_bits = load_base(str(LOOM_TINY), MODEL, quantization="nf4")
    create_adapter(in_4_bits, lora(), tmp_path / "adapted")
    if name == "adapted":
        disturb(tmp_path / "adapted", 0, 0.02)
        body = {"lora_name": name, "lora_path": str(tmp_path / "adapted")}
        assert request("POST", "/v1/load_lora_adapter", body, OTHER_PORT)[0] == 200
    texts = [in_4_bits.tokenizer.encode(text) for text in sample_texts(in_4_bits)]
    found = [logprobs_of_prompt(name, ids, OTHER_PORT) for ids in texts]
    gaps: dict[str, float] = {}
    for kind, of in (("in 4 bits", in_4_bits), ("whole", base)):
        with adapter(of, tmp_path / "adapted") as model:
            gaps[kind] = max(
                (logprobs(model, torch.tensor([ids]))[0] - one).abs().max().item()
                for ids, one in zip(texts, found, strict=True)
            )
    print(f"{name}: largest gap to a trainer whose base is {gaps}")
    assert gaps["in 4 bits"] < 1e-4
    assert gaps["whole"] > 0.1
