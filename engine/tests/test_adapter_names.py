"""The layers of adapters by vLLM's names."""

from types import SimpleNamespace
from typing import Any

import pytest

from engine.inference.adapter_names import rename

LAYER = "model.layers.0.self_attn."


def manager(prefix: str, *language_models: str) -> Any:
    """Of a model with one layer of attention, which computes queries and keys together."""
    return SimpleNamespace(
        modules={f"{prefix}{LAYER}qk_proj": None, f"{prefix}{LAYER}o_proj": None},
        packed_modules={f"{prefix}{LAYER}qk_proj": [f"{prefix}{LAYER}q_proj", f"{prefix}{LAYER}k_proj"]},
        supports_mm=len(language_models) > 0,
        mm_mapping=SimpleNamespace(language_model=[*language_models]),
    )


def adapter(*names: str) -> Any:
    return SimpleNamespace(loras={name: SimpleNamespace(module_name=name) for name in names})


@pytest.mark.parametrize(
    ("prefix", "language_models"), [("", []), ("language_model.", ["language_model"]), ("lm.", ["lm."])]
)
def test_layers_have_the_names_of_the_served_model(prefix: str, language_models: list[str]) -> None:
    found = adapter(f"{LAYER}q_proj", f"{LAYER}o_proj", "model.layers.0.mlp.experts.0.up_proj")
    rename(found, manager(prefix, *language_models))
    assert list(found.loras)[:2] == [f"{prefix}{LAYER}q_proj", f"{prefix}{LAYER}o_proj"]
    assert [layer.module_name for layer in found.loras.values()] == list(found.loras)


def test_names_of_the_served_model_stay() -> None:
    found = adapter(f"language_model.{LAYER}k_proj")
    rename(found, manager("language_model.", "language_model"))
    assert list(found.loras) == [f"language_model.{LAYER}k_proj"]


def test_a_layer_that_would_be_left_out_is_an_error() -> None:
    found = adapter(f"{LAYER}q_proj", "model.layers.1.self_attn.q_proj")
    with pytest.raises(ValueError, match=r"no layer language_model\.model\.layers\.1\.self_attn"):
        rename(found, manager("language_model.", "language_model"))
