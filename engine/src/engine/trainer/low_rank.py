"""LoRA's product beside a frozen linear layer, without what PEFT's keeps for the backward pass.

PEFT converts the input of every adapted layer to the adapter's float32 and keeps that copy: beside a base in bfloat16,
two thirds of what a layer keeps. Here the input is kept as it is, which layers with the same input share, and converted
again, a part at a time. Numbers and their rounding are PEFT's.

Axes: N token, I input, O output, R rank.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

import torch
from peft import PeftModel
from peft.tuners import lora
from torch import Tensor

# PEFT has its layer in 4 bits only where it finds bitsandbytes (four_bits.py).
PLAIN = tuple(getattr(lora, name) for name in ("Linear", "Linear4bit") if hasattr(lora, name))

# Tokens converted at once: 17,408 inputs of 2,048 tokens are 136 MiB in float32.
TOKENS_AT_ONCE = 2048


class AddLowRank(torch.autograd.Function):
    """y + scale * x A^T B^T, calculated in the precision of A and B and rounded once to that of y."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, x: Tensor, a_RI: Tensor, b_OR: Tensor, scale: float) -> Tensor:
        y_NO, x_NI = y.reshape(-1, y.shape[-1]), x.reshape(-1, x.shape[-1])
        shrunk_NR = joined([x_NI[part].to(a_RI.dtype) @ a_RI.T for part in parts(len(x_NI))])
        sum_NO = joined(
            [
                torch.addmm(y_NO[part].to(b_OR.dtype), shrunk_NR[part], b_OR.T, alpha=scale).to(y.dtype)
                for part in parts(len(x_NI))
            ]
        )
        ctx.save_for_backward(x, shrunk_NR, a_RI, b_OR)
        ctx.scale = scale
        return sum_NO.view(y.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        x, shrunk_NR, a_RI, b_OR = cast(tuple[Tensor, ...], ctx.saved_tensors)
        x_NI, gradient_NO = x.reshape(-1, x.shape[-1]), gradient.reshape(-1, gradient.shape[-1])
        to_a_RI, to_b_OR = torch.zeros_like(a_RI), torch.zeros_like(b_OR)
        to_x: list[Tensor] = []
        for part in parts(len(x_NI)):
            part_NO = gradient_NO[part].to(b_OR.dtype)
            to_shrunk_NR = part_NO @ b_OR * ctx.scale
            to_b_OR.addmm_(part_NO.T, shrunk_NR[part], alpha=ctx.scale)
            to_a_RI.addmm_(to_shrunk_NR.T, x_NI[part].to(a_RI.dtype))
            if ctx.needs_input_grad[1]:
                to_x.append((to_shrunk_NR @ a_RI).to(x.dtype))
        return gradient, joined(to_x).view(x.shape) if to_x else None, to_a_RI, to_b_OR, None


def joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def parts(num_tokens: int) -> list[slice]:
    return [slice(start, start + TOKENS_AT_ONCE) for start in range(0, num_tokens, TOKENS_AT_ONCE)]


def forward(layer: Any, x: Tensor) -> Tensor:
    y = layer.base_layer(x)
    if layer.disable_adapters:
        return y
    a, b = layer.lora_A["default"].weight, layer.lora_B["default"].weight
    return cast(Tensor, AddLowRank.apply(y, x, a, b, layer.scaling["default"]))


@contextmanager
def use_light_lora(model: PeftModel) -> Generator[None]:
    """Meanwhile its plain LoRA layers run this way; others, such as DoRA's, stay PEFT's own."""
    layers = [layer for layer in cast(list[Any], [*model.modules()]) if is_plain(layer)]
    for layer in layers:
        layer.forward = partial(forward, layer)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward


def is_plain(layer: Any) -> bool:
    return type(layer) in PLAIN and not layer.lora_variant and not layer.lora_bias["default"]
