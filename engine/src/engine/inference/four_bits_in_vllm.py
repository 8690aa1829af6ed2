"""What a base in 4 bits needs of vLLM beside vllm-bnb-plugin, so that its numbers are the trainer's.

Weights that several GPUs share (tensor parallel) must be cut between the blocks of 64 that have a scale each, or other
weights are rounded to other values. On a CPU layers compute in float32, as in the trainer: the plugin is made for
bfloat16, takes a weight in float32 for one in 8 bits, and rounds the input of every layer. vLLM finds this as a plugin,
by the entry point in `heddle_engine-0.1.0.dist-info`.

Axes: N token, I input, O output.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, cast

import torch
from torch import Tensor

from engine.memory import NF4_BLOCK

WEIGHTS_IN_A_BYTE = 2


def register() -> None:
    """May be called more than once. A vLLM elsewhere may be without the package: it serves no base in 4 bits."""
    if find_spec("vllm_bnb_plugin") is None:
        return
    from vllm.platforms import current_platform
    from vllm_bnb_plugin.quantization import linear

    method: Any = linear.BitsAndBytesLinearMethod
    if method.create_weights.__module__ != __name__:
        method.create_weights = checked(method.create_weights)
    if current_platform.is_cpu():
        linear.calculate_quant_ratio = weights_in_a_byte
        method.apply = apply


def checked(create: Callable[..., None]) -> Callable[..., None]:
    def create_weights(
        method: object,
        layer: object,
        input_size_per_partition: int,
        output_partition_sizes: list[int],
        input_size: int,
        output_size: int,
        params_dtype: torch.dtype,
        **more: Any,
    ) -> None:
        check_cut(input_size_per_partition, sum(output_partition_sizes), input_size, output_size)
        sizes = (input_size_per_partition, output_partition_sizes, input_size, output_size)
        create(method, layer, *sizes, params_dtype, **more)

    return create_weights


def check_cut(input_size: int, output_size: int, whole_input: int, whole_output: int) -> None:
    if (input_size, output_size) != (whole_input, whole_output) and input_size % NF4_BLOCK:
        raise ValueError(
            f"HEDDLE_BASE_QUANTIZATION=nf4: on so many GPUs (HEDDLE_GPUS_SERVING) each has {input_size} of the "
            f"{whole_input} inputs of a layer, which is no multiple of {NF4_BLOCK}: serve on fewer"
        )


def weights_in_a_byte(dtype: torch.dtype) -> int:
    return WEIGHTS_IN_A_BYTE


def apply(_: object, layer: Any, x: Tensor, bias: Tensor | None = None) -> Tensor:
    """x W^T, slice by slice of the output: layers that vLLM packs (query, key, value) are quantized each alone."""
    from bitsandbytes.autograd._functions import matmul_4bit  # pyright: ignore[reportUnknownVariableType]

    states, bounds = layer.weight.bnb_quant_state, cast(list[int], layer.weight.bnb_shard_offsets.tolist())
    x_NI = x.reshape(-1, x.shape[-1])
    slices_NO = [
        cast(Tensor, matmul_4bit(x_NI, layer.weight[bounds[number] : bounds[number + 1]], quant_state=states[number]))
        for number in range(len(states))
    ]
    y = torch.cat(slices_NO, dim=-1).view(*x.shape[:-1], -1)
    return y if bias is None else y + bias
