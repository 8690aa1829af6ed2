"""A small random model of each architecture, from its configuration alone."""

from typing import Any, cast

import torch
import transformers
from examples import LOOM_TINY
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from engine.trainer.model import BaseModel

SIZES: dict[str, Any] = {
    "vocab_size": 1536,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 2048,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    # Large enough that logits differ by nats, and a soft cap or a factor shows.
    "initializer_range": 0.5,
}
EXPERTS = {"num_experts_per_tok": 2}
WINDOW = {"sliding_window": 16}
# Three of four layers keep a state instead of keys and values.
GATED_DELTA = {
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
# Its layers have some of the names that those of the language model have.
VISION = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 28,
    "patch_size": 14,
}
# With what each has beyond Llama: soft caps, factors, windows, experts.
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("LlamaConfig", {}),
    "qwen2": ("Qwen2Config", {}),
    "qwen3": ("Qwen3Config", {}),
    "qwen3_moe": ("Qwen3MoeConfig", EXPERTS | {"num_experts": 4, "moe_intermediate_size": 24}),
    "qwen3_5": ("Qwen3_5TextConfig", GATED_DELTA),
    "gemma": ("GemmaConfig", {}),
    "gemma2": ("Gemma2Config", WINDOW),
    "gemma3": ("Gemma3TextConfig", WINDOW),
    "gemma3_that_sees": ("Gemma3Config", {"text_config": SIZES | WINDOW, "vision_config": VISION}),
    "granite": (
        "GraniteConfig",
        {"logits_scaling": 8.0, "embedding_multiplier": 12.0, "residual_multiplier": 0.2},
    ),
    "cohere": ("CohereConfig", {"logit_scale": 0.0625}),
    "cohere2": ("Cohere2Config", WINDOW | {"logit_scale": 0.25}),
    "phi": ("PhiConfig", {}),
    "phi3": ("Phi3Config", {}),
    "phi3_window": ("Phi3Config", WINDOW),
    "mistral": ("MistralConfig", {"sliding_window": None}),
    "mistral_window": ("MistralConfig", WINDOW),
    "olmo": ("OlmoConfig", {}),
    "olmo2": ("Olmo2Config", {}),
    "olmo3": ("Olmo3Config", WINDOW),
    "gpt_oss": ("GptOssConfig", EXPERTS | WINDOW | {"num_local_experts": 4}),
    "smollm3": ("SmolLM3Config", {}),
}
ARCHITECTURES = list(CONFIGS)


def tiny_model(name: str) -> PreTrainedModel:
    torch.manual_seed(0)
    kind, more = CONFIGS[name]
    config = getattr(transformers, kind)(**more if "text_config" in more else SIZES | more)
    model = cast(Any, AutoModelForCausalLM).from_config(config, dtype=torch.float32)
    return model.eval()


def as_base(model: PreTrainedModel) -> BaseModel:
    """With the tokenizer of the committed model, whose vocabulary has the same size."""
    tokenizer = cast(Any, AutoTokenizer.from_pretrained(LOOM_TINY))
    return BaseModel("tiny", "", model, tokenizer, torch.device("cpu"), torch.float32)
