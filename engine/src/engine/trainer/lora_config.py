"""How an adapter in a folder is put into the base model.

A client may have made the adapter, with any option of PEFT in its `adapter_config.json`. Some of these rewrite the base
model, which all jobs share: PiSSA and OLoRA take their part out of its weights, `layer_replication` repeats its layers.
Others leave half of an adapter in it when PEFT refuses them. So PEFT is not given the file, but a configuration of what
vLLM calculates too; which layers have an adapter is said by the names of its weights.
"""

import re
from collections.abc import Iterable
from typing import Any, cast

import torch
from peft import LoraConfig
from torch import nn

from engine.trainer.errors import Problem

PREFIX = "base_model.model."

# PEFT takes the names in patterns for regular expressions, of which some take forever.
NAME = re.compile(r"\^?[\w.]+\$?")


def lora_config(model: nn.Module, described: Any, weights: Iterable[str]) -> LoraConfig:
    """:param described: what the adapter's `adapter_config.json` has
    :param weights: the names of its tensors
    """
    return LoraConfig(
        **scales(described), target_modules=targets(model, weights), task_type="CAUSAL_LM", lora_dropout=0.0
    )


def scales(described: Any) -> dict[str, Any]:
    """The options that change what an adapter's weights mean."""
    if not isinstance(described, dict):
        raise unusable("it is no object")
    options = cast(dict[str, Any], described)
    return {
        "r": rank_of(options.get("r")),
        "lora_alpha": number_of(options.get("lora_alpha")),
        "use_rslora": options.get("use_rslora") is True,
        "rank_pattern": {name: rank_of(rank) for name, rank in pattern_of(options, "rank_pattern")},
        "alpha_pattern": {name: number_of(alpha) for name, alpha in pattern_of(options, "alpha_pattern")},
    }


def targets(model: nn.Module, weights: Iterable[str]) -> list[str]:
    """The layers that the weights are of: the last parts of their names, if all other layers have other ones."""
    wanted = {name.removeprefix(PREFIX).partition(".lora_")[0] for name in weights}
    layers = dict(cast(list[tuple[str, object]], [*model.named_modules()]))
    if not wanted or not all(isinstance(layers.get(name), torch.nn.Linear) for name in wanted):
        raise Problem("the adapter was not made for this base model: its weights have other names")
    last = {last_part(name) for name in wanted}
    return sorted(last if {name for name in layers if last_part(name) in last} == wanted else wanted)


def last_part(name: str) -> str:
    return name.rpartition(".")[2]


def pattern_of(options: dict[str, Any], name: str) -> Iterable[tuple[str, Any]]:
    pattern: Any = options.get(name) or {}
    if not isinstance(pattern, dict) or not all(NAME.fullmatch(key) for key in cast(dict[str, Any], pattern)):
        raise unusable(f"{name} is no object with names of layers")
    return cast(dict[str, Any], pattern).items()


def rank_of(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise unusable(f"{value!r} is no rank")
    return value


def number_of(value: Any) -> float:
    if type(value) not in (int, float):
        raise unusable(f"{value!r} is no alpha")
    return value


def unusable(reason: str) -> Problem:
    return Problem(f"the adapter_config.json of the adapter cannot be used: {reason}")
