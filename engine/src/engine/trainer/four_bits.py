"""A base model whose linear layers are in 4 bits: NF4 with scales in 8 bits, as QLoRA has it, by bitsandbytes.

Each weight is quantized as it is loaded. Embeddings, head and norms stay as they are, and so do adapters. vLLM
quantizes the same layers in the same way (serve.py).
"""

import sys
from typing import TYPE_CHECKING, Any, Literal, cast

import torch
from transformers import AutoConfig, BitsAndBytesConfig

from engine.memory import EXPERTS
from engine.trainer.errors import Problem

if TYPE_CHECKING:
    from bitsandbytes.nn.modules import Linear4bit

Quantization = Literal["none", "nf4"]
SETTING = "HEDDLE_BASE_QUANTIZATION=nf4"


def leave_out_bitsandbytes() -> None:
    """To be called before PEFT is imported, by a process that needs no layers in 4 bits: PEFT and transformers import
    bitsandbytes where they find it, and it brings PyTorch's compiler along: a fifth of the time in which a trainer
    starts."""
    sys.modules["bitsandbytes"] = cast(Any, None)


def check_stored(path: str, quantization: Quantization) -> None:
    """Refuses, before anything is loaded, a base model that the trainer and vLLM would not quantize alike.

    One that is stored in 4 bits is refused in any case, since a merge needs the weights that were quantized."""
    config = cast(Any, AutoConfig.from_pretrained(path))
    stored: dict[str, Any] = getattr(config, "quantization_config", None) or {}
    method = str(stored.get("quant_method", "a method that it does not name")) if stored else None
    if method == "bitsandbytes":
        raise Problem(f"{path} is stored in 4 or 8 bits: name the model that was quantized, and set {SETTING}")
    if quantization == "none":
        return
    if method is not None:
        raise Problem(f"{SETTING} is for models that are stored in full precision, and {path} is quantized ({method})")
    text = config.get_text_config()
    for experts in EXPERTS:
        if getattr(text, experts, None):
            raise Problem(f"{SETTING} is not for mixtures of experts, whose experts are no linear layers: {path}")


def how_to_load(dtype: torch.dtype, device: torch.device) -> dict[str, Any]:
    """Arguments of `from_pretrained` with which it quantizes each weight on the device as soon as it is read."""
    if device.type == "cuda":
        device = torch.device("cuda", torch.cuda.current_device())
    return {
        "device_map": {"": device},
        "quantization_config": BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=dtype,
        ),
    }


def layers_in_four_bits(model: Any) -> "dict[str, Linear4bit]":
    # Whatever made such a layer has imported the module.
    module = sys.modules.get("bitsandbytes.nn.modules")
    if module is None:
        return {}
    return {name: layer for name, layer in model.named_modules() if isinstance(layer, module.Linear4bit)}


def keep_layout(model: Any) -> None:
    """On CPUs with AVX512 bitsandbytes would rearrange the weights in a pass without gradients and calculate in
    bfloat16 from then on: passes with and without gradients would differ."""
    for layer in layers_in_four_bits(model).values():
        layer.support_avx512bf16_for_cpu = False
