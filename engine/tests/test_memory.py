"""The arithmetic of memory is what autograd keeps of small models, and names what it does not know."""

import math
from pathlib import Path
from typing import Any, cast

import pytest
import torch
import transformers
from memory import bytes_kept
from test_architectures import DENSE, adapter_of
from transformers import AutoModelForCausalLM

from engine.fits import KNOWN
from engine.memory import (
    GIB,
    NF4_SERVED_BYTES,
    NF4_TRAINED_BYTES,
    Shape,
    adapter_bytes,
    input_bytes,
    layer_bytes,
    training,
    weights_bytes,
)
from engine.trainer.chat import Sequence
from engine.trainer.checkpointing import batch_tokens, checkpoint_from
from engine.trainer.layers import Keep
from engine.trainer.model import BaseModel, adapter
from engine.trainer.packing import to_row
from engine.trainer.policy import predict
from engine.trainer.state import trainable

CPU = torch.device("cpu")
TOKENS = 96
QWEN3_14B: dict[str, Any] = {
    "model_type": "qwen3",
    "hidden_size": 5120,
    "num_hidden_layers": 40,
    "intermediate_size": 17408,
    "num_attention_heads": 40,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "tie_word_embeddings": False,
}


def half_model(kind: str, layers: int) -> BaseModel:
    """In bfloat16, as on a GPU; narrow, so that it takes no time."""
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=512,
        hidden_size=64,
        intermediate_size=160,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=2048,
    )
    torch.manual_seed(0)
    model = cast(Any, AutoModelForCausalLM).from_config(config, dtype=torch.bfloat16)
    return BaseModel("tiny", "", model.eval().requires_grad_(False), cast(Any, None), CPU, torch.bfloat16)


def kept(kind: str, layers: int, tokens: int, keep: Keep, directory: Path) -> int:
    base = half_model(kind, layers)
    sequence = Sequence(list(range(tokens)), [index >= tokens - 8 for index in range(tokens)], [-1.0] * tokens)
    (batch,) = to_row([sequence], CPU, share_prefixes=False).batches
    with adapter(base, adapter_of(base, DENSE, directory / f"{layers}-{tokens}")) as model:
        with bytes_kept() as most:
            predict(model, batch, keep)
        return most()


@pytest.mark.parametrize("kind", ["Llama", "Qwen3"])
@pytest.mark.parametrize("keep", ["inputs", "all"])
def test_what_a_layer_keeps_of_a_token(kind: str, keep: Keep, tmp_path: Path) -> None:
    """By differences, which leave out weights and the head."""
    found = [kept(kind, layers, tokens, keep, tmp_path) for layers in (2, 6) for tokens in (TOKENS, 3 * TOKENS)]
    of_token_and_layer = (found[3] - found[2] - found[1] + found[0]) / (2 * TOKENS * 4)
    shape = Shape.of(half_model(kind, 2).model.config.to_dict())
    expected = input_bytes(shape) if keep == "inputs" else layer_bytes(shape)
    assert of_token_and_layer == pytest.approx(expected, rel=0.06)


def test_parameters_are_the_models_own(tmp_path: Path) -> None:
    base = half_model("Qwen3", 2)
    shape = Shape.of(base.model.config.to_dict())
    own = sum(parameter.numel() for parameter in base.model.parameters())
    norms = sum(parameter.numel() for parameter in base.model.parameters() if parameter.ndim == 1)
    assert shape.parameters == own - norms
    assert weights_bytes(shape) == 2 * shape.parameters
    with adapter(base, adapter_of(base, DENSE, tmp_path / "zero")) as model:
        assert shape.adapter_parameters(4) == sum(parameter.numel() for parameter in trainable(model).values())
    assert adapter_bytes(shape, 4) == 16 * shape.adapter_parameters(4)


def test_a_14b_model_trains_on_one_gpu_beside_a_sleeping_server() -> None:
    shape = Shape.of(QWEN3_14B)
    assert weights_bytes(shape) / GIB == pytest.approx(27.5, abs=0.1)
    peaks = {tokens: training(shape, tokens).peak / GIB for tokens in (2048, 8192, 32768)}
    assert peaks[8192] < 60
    assert peaks[2048] < peaks[8192] < peaks[32768] < 60
    assert training(shape, 8192, checkpointed=False).peak / GIB > 100


@pytest.mark.parametrize(
    ("name", "four_bit", "tokens", "checkpointed", "measured_gib"),
    [
        ("0.5B", False, 2048, False, 4.37),
        ("0.5B", False, 8192, False, 11.82),
        ("0.5B", False, 32768, True, 4.67),
        ("14B", True, 8192, True, 15.37),
    ],
)
def test_what_an_h100_took(name: str, four_bit: bool, tokens: int, checkpointed: bool, measured_gib: float) -> None:
    """`npm run bench -- gpu`: the most memory of tensors during a job."""
    computed = training(Shape.of(KNOWN[name]), tokens, four_bit=four_bit, checkpointed=checkpointed)
    assert computed.peak / GIB == pytest.approx(measured_gib, rel=0.1)


def test_in_4_bits_layers_take_a_quarter_and_are_whole_on_each_gpu() -> None:
    shape = Shape.of(QWEN3_14B)
    layers = shape.layers * shape.linear_of_layer
    for bytes_of_one in (NF4_TRAINED_BYTES, NF4_SERVED_BYTES):
        taken = weights_bytes(shape, linear=bytes_of_one) - 2 * shape.embeddings
        assert taken / (2 * layers) == pytest.approx(0.27, abs=0.015)
    alone, together = (training(shape, 8192, gpus=gpus, four_bit=True) for gpus in (1, 8))
    assert together.weights == alone.weights
    assert alone.peak / GIB < 20 < training(shape, 8192).peak / GIB


def test_several_gpus_hold_less_each() -> None:
    shape = Shape.of({**QWEN3_14B, "num_hidden_layers": 80, "hidden_size": 8192, "intermediate_size": 28672})
    assert training(shape, 8192, gpus=8).peak < training(shape, 8192).peak / 3


def test_a_mixture_of_experts_is_not_computed() -> None:
    with pytest.raises(KeyError, match="num_experts"):
        Shape.of({**QWEN3_14B, "num_experts": 128})


def test_which_batches_are_checkpointed() -> None:
    large = cast(Any, transformers).Qwen3Config(
        **{key: value for key, value in QWEN3_14B.items() if key != "model_type"}
    )
    small = half_model("Llama", 2).model.config
    assert checkpoint_from("auto", large, CPU, torch.bfloat16) < 1000
    assert checkpoint_from("auto", small, CPU, torch.float32) > 100_000
    assert checkpoint_from("on", small, CPU, torch.float32) == 0
    assert checkpoint_from("off", large, CPU, torch.bfloat16) == math.inf


@pytest.mark.parametrize(("from_tokens", "expected"), [(0, 2048), (2600.5, 2600), (50_000, 8192), (math.inf, 8192)])
def test_a_gpu_runs_as_many_tokens_at_once_as_need_not_run_twice(from_tokens: float, expected: int) -> None:
    assert batch_tokens(torch.device("cuda"), from_tokens) == expected
    assert batch_tokens(CPU, from_tokens) == 2048
