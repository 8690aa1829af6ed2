"""Renames an adapter's layers to those of vLLM's model, and refuses adapters with weights that vLLM would ignore.

Of some models that see images, transformers loads the language model alone (Qwen3.5, Llama 4), and its adapters name
`model.layers.0…`. vLLM loads the whole model, where that layer is `language_model.model.layers.0…`. It ignores weights
for layers that its model does not have, without a warning, so such an adapter would answer like the base model. vLLM
finds this as a plugin, in each of its processes, by the entry point in `heddle_engine-0.1.0.dist-info`.
"""

from collections.abc import Iterable
from typing import Any

# A layer of experts has one name in vLLM, and one or one for each expert in an adapter.
EXPERTS = ".experts"


def register() -> None:
    """May be called more than once."""
    from vllm.distributed import get_pp_group
    from vllm.lora.worker_manager import WorkerLoRAManager

    load = WorkerLoRAManager._load_adapter  # pyright: ignore[reportPrivateUsage]
    if load.__module__ == __name__:
        return

    def load_adapter(workers: Any, request: Any) -> Any:
        adapter, manager = load(workers, request), workers._adapter_manager
        # With pipeline parallelism a process has some of the layers.
        if get_pp_group().world_size == 1:
            rename(adapter, manager)
        return adapter

    setattr(WorkerLoRAManager, load.__name__, load_adapter)


def rename(adapter: Any, manager: Any) -> None:
    """Gives the layers of an adapter the names that they have in vLLM's model. Raises ValueError where it lacks one."""
    known = {*manager.modules, *(name for parts in manager.packed_modules.values() for name in parts)}
    prefixes: list[str] = manager.mm_mapping.language_model if manager.supports_mm else []
    names = names_in(known, adapter.loras, prefixes)
    for name, layer in adapter.loras.items():
        layer.module_name = names[name]
    adapter.loras = {names[name]: layer for name, layer in adapter.loras.items()}


def names_in(known: set[str], names: Iterable[str], prefixes: list[str]) -> dict[str, str]:
    """The known names of an adapter's layers. Those of the language model may have one of the prefixes there."""

    def missing(prefix: str) -> list[str]:
        return [prefix + name for name in names if EXPERTS not in name and prefix + name not in known]

    nearest = min(["", *(f"{prefix.rstrip('.')}." for prefix in prefixes)], key=lambda prefix: len(missing(prefix)))
    if left_out := missing(nearest):
        raise ValueError(f"vLLM's model has no layer {left_out[0]}: what the adapter has for it would be left out")
    return {name: nearest + name for name in names}
