"""Which batches are so large that layers keep only their inputs and run once more in the backward pass.

That takes a third more time, so small ones keep everything.
"""

import math
from typing import Any, Literal

import torch

from engine.memory import GIB, Shape, layer_bytes
from engine.trainer.packing import BATCH_TOKENS

Checkpointing = Literal["auto", "on", "off"]

# Of the memory that is free on a GPU once the model is there; the rest is for logits, gradients and gaps.
FREE_SHARE = 0.5
# On a CPU, whose memory everything shares: a model of 0.5 billion parameters and the usual batch of 2,048 tokens.
CPU_BYTES = 2 * GIB


def checkpoint_from(choice: Checkpointing, config: Any, device: torch.device, dtype: torch.dtype) -> float:
    """The tokens of a batch from which on its layers run twice."""
    if choice != "auto":
        return 0 if choice == "on" else math.inf
    try:
        shape = Shape.of(config.to_dict())
    except KeyError:
        # No decoder of the usual kind: what its layers keep is not known.
        return 0
    limit = FREE_SHARE * torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else CPU_BYTES
    return limit / (shape.layers * layer_bytes(shape, dtype.itemsize))


# An H100 takes 0.47 s for a step of 2,048 tokens of a model of 0.5 billion parameters, and 0.51 s for one of 8,192.
GPU_BATCH_TOKENS = 8192


def batch_tokens(device: torch.device, checkpoint_from: float) -> int:
    """The tokens that run at once: on a GPU as many as it takes to be busy, where their layers need not run twice."""
    if device.type != "cuda":
        return BATCH_TOKENS
    return int(max(BATCH_TOKENS, min(GPU_BATCH_TOKENS, checkpoint_from)))
