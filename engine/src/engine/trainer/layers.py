"""How the layers of a body run: keeping what the backward pass needs, or only their input and running once more then;
and on the keys and values of a prefix that sequences share.

transformers' own checkpointing drops the cache that prefixes need. Here a layer that runs is a function of its input
and of its prefix's keys and values, so running it again changes nothing.

Axes: B sequence of a batch, T token position, C prefix, P position in a prefix, D hidden unit.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Literal, cast

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint  # pyright: ignore[reportUnknownVariableType]
from transformers.modeling_layers import GradientCheckpointingLayer

Keep = Literal["all", "inputs"]
KeysAndValues = tuple[Tensor, Tensor]  # each shape C or B, heads, P, head dimension
Run = Callable[..., Any]


class LayerCache:
    """What attention asks for earlier tokens, for one layer and one run."""

    def __init__(self, earlier: KeysAndValues | None = None) -> None:
        self.all = earlier

    def update(self, keys: Tensor, values: Tensor, *_: object, **__: object) -> KeysAndValues:
        self.all = (keys, values) if self.all is None else (joined(self.all[0], keys), joined(self.all[1], values))
        return self.all


def joined(earlier: Tensor, later: Tensor) -> Tensor:
    return torch.cat([earlier, later], dim=2)


def run_body(body: Any, tokens_BT: Tensor, keep: Keep) -> Tensor:
    """The last hidden states."""

    def layer(run: Run, *args: Any, **kwargs: Any) -> Any:
        return run_keeping(keep, lambda *inner: run(*inner, **kwargs), *args)

    with run_by(body, [layer] * len(layers_of(body)) if keep == "inputs" else []):
        return body(input_ids=tokens_BT, use_cache=False).last_hidden_state


def keys_and_values(body: Any, tokens_CP: Tensor, keep: Keep) -> list[KeysAndValues]:
    """Those of each layer for some tokens."""
    found: list[KeysAndValues] = []

    def layer(run: Run, *args: Any, **kwargs: Any) -> Any:
        def with_cache(*inner: Any) -> tuple[Any, ...]:
            cache = LayerCache()
            hidden = run(*inner, **{**kwargs, "past_key_values": cache})
            assert cache.all is not None
            return hidden, *cache.all

        hidden, keys, values = cast(tuple[Tensor, ...], GradientsTogether.apply(*run_keeping(keep, with_cache, *args)))
        found.append((keys, values))
        return hidden

    with run_by(body, [layer] * len(layers_of(body))):
        body(input_ids=tokens_CP, use_cache=False)
    return found


def run_after_prefixes(
    body: Any, tokens_BT: Tensor, prefixes: list[KeysAndValues], index_B: Tensor, keep: Keep, **inputs: Tensor
) -> Tensor:
    """The last hidden states of sequences that go on after prefix number `index_B`."""

    def layer_after(prefix: KeysAndValues) -> Run:
        def layer(run: Run, *args: Any, **kwargs: Any) -> Any:
            def with_cache(*inner: Any) -> Any:
                keys, values = prefix
                # Copied for each sequence only while the layer runs.
                cache = LayerCache((keys[index_B], values[index_B]))
                return run(*inner, **{**kwargs, "past_key_values": cache})

            return run_keeping(keep, with_cache, *args)

        return layer

    with run_by(body, [layer_after(prefix) for prefix in prefixes]):
        return body(input_ids=tokens_BT, use_cache=False, **inputs).last_hidden_state


def run_keeping(keep: Keep, run: Run, *args: Any) -> Any:
    """Runs it, and keeps for its backward pass what `keep` says."""
    if keep == "all" or not torch.is_grad_enabled():
        return run(*args)
    # Nothing here draws random numbers: models are in evaluation mode, and LoRA has no dropout.
    return cast(Any, checkpoint)(run, *args, use_reentrant=False, preserve_rng_state=False)


class GradientsTogether(torch.autograd.Function):
    """The same tensors. A gradient of any counts as one of all: weights that are gathered for a layer's backward pass
    (ranks.py) are so when the layer's result gets a gradient, and the last layer's keys and values alone get some."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        return gradients


def layers_of(body: Any) -> list[Any]:
    return [module for module in body.modules() if isinstance(module, GradientCheckpointingLayer)]


@contextmanager
def run_by(body: Any, ways: list[Run]) -> Generator[None]:
    """Each layer's forward goes through a way of its own, which gets the forward as its first argument."""
    layers = layers_of(body)[: len(ways)]

    def through(way: Run, run: Run) -> Run:
        return lambda *args, **kwargs: way(run, *args, **kwargs)

    for layer, way in zip(layers, ways, strict=True):
        layer.forward = through(way, layer.forward)
    try:
        yield
    finally:
        for layer in layers:
            del layer.forward
