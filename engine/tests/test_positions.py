"""Rotary positions are those of vLLM, and the same whatever runs beside a token."""

from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
import transformers
from examples import lora
from tiny_models import SIZES, as_base
from transformers import AutoModelForCausalLM, PreTrainedModel
from vllm.model_executor.layers.rotary_embedding import phi3_long_rope_scaled_rope as in_vllm

from engine.trainer.chat import Sequence
from engine.trainer.errors import Problem
from engine.trainer.model import BaseModel, adapter, create_adapter, load_base
from engine.trainer.packing import to_row
from engine.trainer.policy import logprobs
from engine.trainer.positions import fix_positions

CPU = torch.device("cpu")
ORIGINAL, LONGEST = 32, 256
FACTORS = {"short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [2.0, 3.0, 5.0, 9.0]}
LONGROPE = {"rope_type": "longrope", "original_max_position_embeddings": ORIGINAL, **FACTORS}
TARGETS = {"Phi3": ["qkv_proj", "o_proj"], "Llama": ["q_proj", "o_proj"]}


def tiny(kind: str, **rope: Any) -> PreTrainedModel:
    torch.manual_seed(0)
    sizes = SIZES | {"max_position_embeddings": LONGEST, "rope_parameters": {"rope_theta": 10_000.0, **rope}}
    if kind == "Phi3":
        sizes |= {"original_max_position_embeddings": ORIGINAL}
    config = getattr(transformers, f"{kind}Config")(**sizes)
    return cast(Any, AutoModelForCausalLM).from_config(config, dtype=torch.float32).eval()


def loaded(model: PreTrainedModel, directory: Path, served_length: int | None = None) -> BaseModel:
    as_base(model).tokenizer.save_pretrained(directory)
    model.save_pretrained(directory)
    return load_base(str(directory), "tiny", served_length=served_length)


@pytest.mark.parametrize(
    ("kind", "served_length", "is_long"),
    [("Phi3", None, False), ("Phi3", 64, True), ("Llama", None, True), ("Llama", ORIGINAL, False)],
)
def test_frequencies_of_longrope_are_vllms(
    kind: str, served_length: int | None, is_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of Phi-3, vLLM serves the original length where it is not told another."""
    model = tiny(kind, **LONGROPE)
    fix_positions(model, served_length)
    served = SimpleNamespace(model_config=SimpleNamespace(max_model_len=LONGEST if is_long else ORIGINAL))
    monkeypatch.setattr(in_vllm, "get_current_vllm_config", lambda: served)
    size = SIZES["head_dim"]
    layer = in_vllm.Phi3LongRoPEScaledRotaryEmbedding(
        size, size, LONGEST, ORIGINAL, 10_000.0, True, torch.float32, FACTORS["short_factor"], FACTORS["long_factor"]
    )
    positions_T = torch.arange(ORIGINAL)
    rows = cast(torch.Tensor, layer.long_short_cos_sin_cache)
    expected_TD = rows[positions_T + (ORIGINAL if is_long else 0)]
    cos_BTD, sin_BTD = cast(Any, model).model.rotary_emb(torch.zeros(1), positions_T[None])
    half = size // 2
    assert torch.allclose(torch.cat([cos_BTD[0, :, :half], sin_BTD[0, :, :half]], -1), expected_TD, atol=1e-6)


@pytest.mark.parametrize("kind", ["Phi3", "Llama"])
@pytest.mark.parametrize("served_length", [None, LONGEST, ORIGINAL])
def test_what_runs_beside_a_sequence_changes_nothing(kind: str, served_length: int | None, tmp_path: Path) -> None:
    """Nor does a prefix that it shares, behind which some end beyond the original length."""
    base = loaded(tiny(kind, **LONGROPE), tmp_path / "base", served_length)
    assert base.shares_prefixes
    rng = Random(0)
    shared = [rng.randrange(3, 1500) for _ in range(24)]
    sequences: list[Sequence] = []
    for length in (4, 5, 6, 30):
        tokens = [*shared, *(rng.randrange(3, 1500) for _ in range(length))]
        sampled = [index >= len(shared) for index in range(len(tokens))]
        sequences.append(Sequence(tokens, sampled, [-1.0] * len(tokens), advantage=1.0, weight=1.0))
    create_adapter(base, lora().model_copy(update={"target_modules": TARGETS[kind]}), tmp_path / "zero")
    with adapter(base, tmp_path / "zero") as model:

        def found(together: list[Sequence], *, share_prefixes: bool) -> dict[int, torch.Tensor]:
            row = to_row(together, CPU, share_prefixes=share_prefixes)
            assert any(batch.prefix for batch in row.batches) == share_prefixes
            parts = torch.split(logprobs(model, row), [one.num_sampled for one in row.sequences])
            return {len(one): part for one, part in zip(row.sequences, parts, strict=True)}

        alone = {length: part for one in sequences for length, part in found([one], share_prefixes=False).items()}
        for way in (True, False):
            for length, part in found(sequences, share_prefixes=way).items():
                assert torch.allclose(part, alone[length], atol=1e-4), (length, way)


def test_what_vllm_computes_otherwise_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="LlamaForCausalLM cannot be trained with rope_type dynamic: vLLM computes other"):
        loaded(tiny("Llama", rope_type="dynamic", factor=2.0), tmp_path / "base")


def test_an_architecture_with_its_own_longrope_is_refused() -> None:
    scales = {"short_mscale": 1.1, "long_mscale": 1.3}
    with pytest.raises(Problem, match="PhimoeForCausalLM cannot be trained with its way to compute longrope"):
        fix_positions(tiny("Phimoe", **LONGROPE, **scales), LONGEST)
