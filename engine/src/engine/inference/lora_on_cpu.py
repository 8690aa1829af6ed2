"""LoRA layers for vLLM on a CPU: each adapter's tokens in one matrix product.

vLLM's own code copies the adapter's matrices for every token: 128 answers of the tiny model took six times as long as
without an adapter (docs/decisions/0009). Its code for GPUs is not concerned. vLLM finds this as a plugin, in each of
its processes, by the entry point in `heddle_engine-0.1.0.dist-info`.

Axes: N token, I input, O output, R rank (padded to the largest), A adapter that is loaded. A token with a negative
index has no adapter.
"""

from collections.abc import Iterator
from typing import Any, cast

from torch import Tensor


def register() -> None:
    """May be called more than once."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm.lora.punica_wrapper.punica_cpu import PunicaWrapperCPU

    for replacement in (add_lora_linear, add_lora_logits, add_lora_embedding):
        setattr(PunicaWrapperCPU, replacement.__name__, replacement)


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
    """
    y_NO, x_NI = y.view(-1, y.shape[-1]), x.view(-1, x.shape[-1])
    for adapter, tokens in tokens_by_adapter(wrapper.token_lora_indices[: len(x_NI)]):
        chosen_NI = x_NI[tokens]
        start = 0
        for a_A1RI, b_A1OR, size in zip(lora_a_stacked, lora_b_stacked, output_slices, strict=True):
            shrunk_NR = chosen_NI @ a_A1RI[adapter, 0].T
            add_product(y_NO[:, start : start + size], tokens, shrunk_NR, b_A1OR[adapter, 0], scale)
            start += size


def add_lora_logits(
    wrapper: Any, y: Tensor, x: Tensor, lora_a_stacked: Tensor, lora_b_stacked: Tensor, scale: float, **_: Any
) -> None:
    """The same for the head, which computes only the tokens that are sampled from."""
    y_NO, x_NI = y.view(-1, y.shape[-1]), x.view(-1, x.shape[-1])
    for adapter, tokens in tokens_by_adapter(wrapper.sampler_indices[: len(x_NI)]):
        shrunk_NR = x_NI[tokens] @ lora_a_stacked[adapter, 0].T
        add_product(y_NO, tokens, shrunk_NR, lora_b_stacked[adapter, 0], scale)


def add_lora_embedding(wrapper: Any, y: Tensor, x: Tensor, lora_b_stacked: Tensor, **_: Any) -> None:
    """The same for the embedding, which has looked up x A^T in a table."""
    y_NO, x_NR = y.view(-1, y.shape[-1]), x.view(-1, x.shape[-1])
    for adapter, tokens in tokens_by_adapter(wrapper.token_lora_indices[: len(x_NR)]):
        add_product(y_NO, tokens, x_NR[tokens], lora_b_stacked[adapter, 0])


def tokens_by_adapter(index_N: Tensor) -> Iterator[tuple[int, slice | Tensor]]:
    adapters = set(cast(list[int], index_N.tolist()))
    for adapter in adapters:
        if adapter >= 0:
            yield adapter, slice(None) if len(adapters) == 1 else (index_N == adapter).nonzero().squeeze(1)


def add_product(y_NO: Tensor, tokens: slice | Tensor, shrunk_NR: Tensor, b_OR: Tensor, scale: float = 1.0) -> None:
    # The logits are padded beyond the vocabulary.
    y_NO = y_NO[:, : len(b_OR)]
    if isinstance(tokens, slice):
        y_NO.addmm_(shrunk_NR, b_OR.T, alpha=scale)
    else:
        y_NO.index_add_(0, tokens, shrunk_NR @ b_OR.T, alpha=scale)
