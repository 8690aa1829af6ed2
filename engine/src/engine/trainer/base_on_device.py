"""The base model leaves the device for the memory of the machine while the trainer sleeps, and returns.

Between requests a trainer has nothing else there: adapter and optimizer are those of a job, and end with it.
"""

import gc
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor

from engine.trainer.four_bits import layers_in_four_bits
from engine.trainer.model import BaseModel


def leave(base: BaseModel) -> None:
    move(base.model, lambda tensor: tensor.to("cpu"))
    # Frames of errors and cycles may hold tensors of a job.
    gc.collect()
    if base.device.type == "cuda":
        torch.cuda.empty_cache()


def come_back(base: BaseModel) -> None:
    move(base.model, lambda tensor: tensor.to(base.device))


def move(model: Any, to: Callable[[Tensor], Tensor]) -> None:
    """Every tensor of a model, sharded or in 4 bits too, gets the memory of what `to` makes of it. The objects stay."""
    model._apply(to)
    for layer in layers_in_four_bits(model).values():
        scales = cast(Any, layer.weight).quant_state
        for state in (scales, scales.state2):
            for name in ("absmax", "code", "offset"):
                tensor = cast(Tensor | None, getattr(state, name))
                if tensor is not None:
                    setattr(state, name, to(tensor))
