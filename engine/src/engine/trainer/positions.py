"""The trainer's rotary positions are vLLM's, whatever runs beside a token.

transformers chooses the frequencies of LongRoPE (Phi-3) anew for each batch, by its longest position, so a token would
have others beside a long sequence or behind a shared prefix. vLLM chooses once, by the length that it serves.
"""

import math
from typing import Any, cast

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from engine.trainer.errors import Problem

LONGROPE = "longrope"


def fix_positions(model: PreTrainedModel, served_length: int | None) -> None:
    """Gives a model with LongRoPE vLLM's frequencies, and refuses one that cannot have them.

    :param served_length: vLLM's `--max-model-len`; None where it is the model's own
    """
    for module in cast(Any, model).modules():
        kind: Any = getattr(module, "rope_type", None)
        kinds: list[Any] = [*cast(dict[str, Any], kind).values()] if isinstance(kind, dict) else [kind]
        # vLLM scales at every length what transformers scales beyond the model's positions alone; with an `alpha`
        # (Hunyuan) both scale at every length.
        if "dynamic" in kinds and "alpha" not in module.config.rope_parameters:
            raise refused(model, "rope_type dynamic")
        if LONGROPE in kinds and kind != LONGROPE:
            raise refused(model, f"rope_type {LONGROPE} in some of its layers")
        if kind == LONGROPE:
            fix_longrope(model, module, served_length)


def fix_longrope(model: PreTrainedModel, rotary: Any, served_length: int | None) -> None:
    config, rope = rotary.config, rotary.config.rope_parameters
    original, longest = int(rope["original_max_position_embeddings"]), int(config.max_position_embeddings)
    # What vLLM serves where it is not told.
    default = getattr(config, "original_max_position_embeddings", None) or longest
    is_long = (served_length or default) > original
    seen = original + 1 if is_long else original
    frequencies, _ = ROPE_INIT_FUNCTIONS[LONGROPE](config, rotary.inv_freq.device, seq_len=seen)
    rotary.inv_freq = frequencies
    # From vLLM's Phi3LongRoPEScaledRotaryEmbedding; transformers also reads `factor` and `attention_factor`.
    scale = longest / original
    usual = math.sqrt(1 + math.log(scale) / math.log(original)) if scale > 1 else 1.0
    rotary.attention_scaling = rope.get("long_mscale" if is_long else "short_mscale") or usual
    # Or transformers would choose again in each pass.
    rotary.rope_type = "default"
    if not is_fixed(rotary, longest):
        raise refused(model, f"its way to compute {LONGROPE}")


@torch.no_grad()
def is_fixed(rotary: nn.Module, longest: int) -> bool:
    """Whether a token beside the farthest one has the frequencies that were set."""
    own: Any = rotary
    positions_BT = torch.tensor([[1, longest - 1]], device=own.inv_freq.device)
    cosines_BTD, _ = rotary(torch.zeros(1, device=own.inv_freq.device), positions_BT)
    expected_D = own.inv_freq.cos() * own.attention_scaling
    return torch.allclose(cosines_BTD[0, 0, : len(expected_D)], expected_D)


def refused(model: PreTrainedModel, what: str) -> Problem:
    return Problem(
        f"models of the architecture {type(model).__name__} cannot be trained with {what}: vLLM computes other "
        "positions"
    )
