"""vLLM's LoRA layers by our code and by its own."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.lora_on_cpu import add_lora_linear

RANK, INPUTS, ADAPTERS, SCALE = 16, 24, 3, 2.0
SLICES = (32, 8, 8)


def stacked(outputs: int, inputs: int) -> Tensor:
    return torch.randn(ADAPTERS, 1, outputs, inputs)


@pytest.mark.parametrize("index", [[1, 1, 1, 1], [0, 2, 0, 1, 2, 2, 1], [2]])
def test_agrees_with_vllm(index: list[int]) -> None:
    from vllm.lora.ops.torch_ops import bgmv_expand_slice, bgmv_shrink

    torch.manual_seed(0)
    index_N = torch.tensor(index)
    x_NI, y_NO = torch.randn(len(index), INPUTS), torch.randn(len(index), sum(SLICES))
    a = tuple(stacked(RANK, INPUTS) for _ in SLICES)
    b = tuple(stacked(size, RANK) for size in SLICES)
    expected_NO = y_NO.clone()
    start = 0
    for a_slice, b_slice, size in zip(a, b, SLICES, strict=True):
        buffer_NR = torch.zeros(len(index), RANK)
        bgmv_shrink(x_NI, a_slice, buffer_NR, index_N, SCALE)
        bgmv_expand_slice(buffer_NR, b_slice, expected_NO, index_N, start, size)
        start += size

    wrapper: Any = SimpleNamespace(token_lora_indices=index_N)
    add_lora_linear(wrapper, y_NO, x_NI, a, b, SCALE, SLICES)
    torch.testing.assert_close(y_NO, expected_NO, atol=1e-4, rtol=1e-5)


def test_a_token_without_an_adapter_stays_as_it_is() -> None:
    x_NI, y_NO = torch.randn(3, INPUTS), torch.zeros(3, 8)
    wrapper: Any = SimpleNamespace(token_lora_indices=torch.tensor([-1, 0, -1]))
    add_lora_linear(wrapper, y_NO, x_NI, (stacked(RANK, INPUTS),), (stacked(8, RANK),), SCALE, (8,))
    assert y_NO[0].abs().sum() == 0
    assert y_NO[1].abs().sum() > 0
    assert y_NO[2].abs().sum() == 0


def test_vllm_finds_it() -> None:
    from importlib.metadata import entry_points

    (plugin,) = entry_points(group="vllm.general_plugins", name="heddle")
    plugin.load()()
    from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU
    from vllm.platforms import current_platform

    assert (PunicaWrapperCPU.add_lora_linear is add_lora_linear) == current_platform.is_cpu()
