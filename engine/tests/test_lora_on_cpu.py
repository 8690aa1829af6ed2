"""vLLM's LoRA layers by our code and by its own."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.inference.lora_on_cpu import add_lora_embedding, add_lora_linear, add_lora_logits

RANK, INPUTS, ADAPTERS, SCALE = 16, 24, 3, 2.0
SLICES = (32, 8, 8)
VOCABULARY, PADDED = 40, 48
INDICES = pytest.mark.parametrize("index", [[1, 1, 1, 1], [0, 2, 0, 1, 2, 2, 1], [2]])


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def stacked(outputs: int, inputs: int) -> Tensor:
    return torch.randn(ADAPTERS, 1, outputs, inputs)


def wrapper(index: list[int]) -> Any:
    """What vLLM keeps of a batch; each token is sampled from."""
    return SimpleNamespace(token_lora_indices=torch.tensor(index), sampler_indices=torch.tensor(index))


@INDICES
def test_linear_layers_agree_with_vllm(index: list[int]) -> None:
    from vllm.lora.ops.torch_ops import bgmv_expand_slice, bgmv_shrink

    x_NI, y_NO = torch.randn(len(index), INPUTS), torch.randn(len(index), sum(SLICES))
    a = tuple(stacked(RANK, INPUTS) for _ in SLICES)
    b = tuple(stacked(size, RANK) for size in SLICES)
    expected_NO = y_NO.clone()
    start = 0
    for a_slice, b_slice, size in zip(a, b, SLICES, strict=True):
        buffer_NR = torch.zeros(len(index), RANK)
        bgmv_shrink(x_NI, a_slice, buffer_NR, torch.tensor(index), SCALE)
        bgmv_expand_slice(buffer_NR, b_slice, expected_NO, torch.tensor(index), start, size)
        start += size
    add_lora_linear(wrapper(index), y_NO, x_NI, a, b, SCALE, SLICES)
    torch.testing.assert_close(y_NO, expected_NO, atol=1e-4, rtol=1e-5)


@INDICES
def test_the_head_and_the_embedding_agree_with_vllm(index: list[int]) -> None:
    from vllm.lora.ops.torch_ops import bgmv_expand, bgmv_shrink

    x_NI, a, b = torch.randn(len(index), INPUTS), stacked(RANK, INPUTS), stacked(VOCABULARY, RANK)
    buffer_NR, expected_NO = torch.zeros(len(index), RANK), torch.zeros(len(index), PADDED)
    bgmv_shrink(x_NI, a, buffer_NR, torch.tensor(index), SCALE)
    bgmv_expand(buffer_NR, b, expected_NO, torch.tensor(index))

    logits_NO, embedded_NO = torch.zeros(len(index), PADDED), torch.zeros(len(index), PADDED)
    add_lora_logits(wrapper(index), logits_NO, x_NI, a, b, SCALE)
    add_lora_embedding(wrapper(index), embedded_NO, buffer_NR, b)
    torch.testing.assert_close(logits_NO, expected_NO, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(embedded_NO, expected_NO, atol=1e-4, rtol=1e-5)


def test_a_token_without_an_adapter_stays_as_it_is() -> None:
    a, b = stacked(RANK, INPUTS), stacked(8, RANK)
    x_NI, x_NR = torch.randn(3, INPUTS), torch.randn(3, RANK)
    linear_NO, logits_NO, embedded_NO = torch.zeros(3, 3, 8)
    batch = wrapper([-1, 0, -1])
    add_lora_linear(batch, linear_NO, x_NI, (a,), (b,), SCALE, (8,))
    add_lora_logits(batch, logits_NO, x_NI, a, b, SCALE)
    add_lora_embedding(batch, embedded_NO, x_NR, b)
    for y_NO in (linear_NO, logits_NO, embedded_NO):
        assert [bool(row.any()) for row in y_NO] == [False, True, False]


def test_vllm_finds_it() -> None:
    from importlib.metadata import entry_points

    (plugin,) = entry_points(group="vllm.general_plugins", name="heddle_lora")
    plugin.load()()
    from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU
    from vllm.platforms import current_platform

    for replacement in (add_lora_linear, add_lora_logits, add_lora_embedding):
        replaced = getattr(PunicaWrapperCPU, replacement.__name__) is replacement
        assert replaced == current_platform.is_cpu()
