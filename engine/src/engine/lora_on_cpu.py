"""LoRA layers for vLLM on a CPU: each adapter's tokens in one matrix product.

vLLM's own code copies the adapter's matrices for every token: 128 answers of the tiny model took six times as long as
without an adapter (docs/decisions/0009). Its code for GPUs is not concerned. vLLM finds this as a plugin, in each of
its processes, by the entry point in `heddle_engine-0.1.0.dist-info`.

Axes: N token, I input, O output, R rank (padded to the largest), A adapter that is loaded.
"""

from typing import Any, cast

import torch
from torch import Tensor


def register() -> None:
    """May be called more than once."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

    cast(Any, PunicaWrapperCPU).add_lora_linear = add_lora_linear


def add_lora_linear(
    wrapper: Any,
    y: Tensor,
    x: Tensor,
    lora_a_stacked: tuple[Tensor, ...],
    lora_b_stacked: tuple[Tensor, ...],
    scale: float,
    output_slices: tuple[int, ...],
    **_: Any,
) -> None:
    """y += scale * x A^T B^T with each token's own adapter, slice by slice of the output, in place.

    A layer whose outputs are packed (query, key, value) has a slice for each. Stacked: (A, 1, R, I) and (A, 1, O, R).
    A token with a negative index has no adapter.
    """
    y_NO, x_NI = y.view(-1, y.shape[-1]), x.view(-1, x.shape[-1])
    index_N: Tensor = wrapper.token_lora_indices[: len(x_NI)]
    adapters = cast(list[int], index_N.unique().tolist())
    for adapter in adapters:
        if adapter < 0:
            continue
        tokens = slice(None) if len(adapters) == 1 else (index_N == adapter).nonzero().squeeze(1)
        chosen_NI = x_NI[tokens]
        start = 0
        for a_A1RI, b_A1OR, size in zip(lora_a_stacked, lora_b_stacked, output_slices, strict=True):
            a_RI, b_OR = a_A1RI[adapter, 0], b_A1OR[adapter, 0]
            shrunk_NR = torch.mm(chosen_NI, a_RI.T) * scale
            y_NO[tokens, start : start + len(b_OR)] += torch.mm(shrunk_NR, b_OR.T)
            start += size
