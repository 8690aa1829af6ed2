"""The base model with an adapter merged into it, as a model of its own that needs no PEFT.

Axes: T token position, V vocabulary.
"""

from pathlib import Path
from typing import Any, cast

import torch
from peft.tuners.lora import LoraLayer
from torch import Tensor

from engine.architecture import load_model
from engine.chat import encode
from engine.model import BaseModel, adapter, written_aside

SAMPLES = [
    "What is 17 + 25?",
    "Hello! How are you today?",
    'Answer in JSON: {"answer": 42}',
    "Write the words in reverse order: one two three four.",
    "The quick brown fox jumps over the lazy dog, and then it sleeps until the evening.",
]


def merge_adapter(base: BaseModel, checkpoint: Path, directory: Path) -> float:
    """Writes the folder and returns its difference from the base with its adapter: the largest difference of a token's
    log-probability over some texts, in nats.

    W + scale * B A is calculated beside the base model, which is not changed: other jobs use it.
    """
    texts = sample_texts(base)
    with adapter(base, checkpoint) as model, torch.no_grad():
        layers = cast(list[tuple[str, Any]], [*model.named_modules()])
        merged = {
            name.removeprefix("base_model.model.") + ".weight": merged_weight(module)
            for name, module in layers
            if is_adapted(module)
        }
        expected = [logprobs(model, text_T) for text_T in texts]
    with written_aside(directory) as aside:
        base.model.save_pretrained(aside, state_dict={**base.model.state_dict(), **merged})
        cast(Any, base.tokenizer).save_pretrained(aside)
        written = cast(Any, load_model(str(aside), base.dtype)).to(base.device)
        gaps = [
            (logprobs(written, text_T) - wanted).abs().max() for text_T, wanted in zip(texts, expected, strict=True)
        ]
    return float(max(gaps))


def is_adapted(module: object) -> bool:
    return isinstance(module, LoraLayer)


def merged_weight(module: Any) -> Tensor:
    """In the precision of the base, rounded once: the adapter is float32, also beside a base in bfloat16."""
    weight: Tensor = module.get_base_layer().weight
    return (weight.float() + module.get_delta_weight("default").float()).to(weight.dtype)


def sample_texts(base: BaseModel) -> list[Tensor]:
    prompts = [
        cast(Any, base.tokenizer).apply_chat_template([{"role": "user", "content": text}], tokenize=False)
        for text in SAMPLES
    ]
    return [torch.tensor(encode(base.tokenizer, text), device=base.device) for text in [*SAMPLES, *prompts]]


@torch.no_grad()
def logprobs(model: Any, text_T: Tensor) -> Tensor:
    """Of each token but the first."""
    all_logprobs_TV = model(text_T[None]).logits[0].float().log_softmax(-1)
    return all_logprobs_TV[:-1].gather(-1, text_T[1:, None]).squeeze(-1)
