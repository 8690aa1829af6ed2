"""The base model with an adapter merged into it, as a model of its own that needs no PEFT.

From the base's files to new ones, a tensor at a time: neither the device nor the memory of the machine holds a second
model.

Axes: B text, T token position, V vocabulary.
"""

import copy
import json
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from peft.tuners.lora import LoraLayer
from safetensors import safe_open
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor
from transformers.utils.hub import cached_file  # pyright: ignore[reportUnknownVariableType]

from engine.beat import Beat, CountedBeat, no_beat
from engine.trainer.chat import encode
from engine.trainer.errors import Problem
from engine.trainer.four_bits import layers_in_four_bits
from engine.trainer.model import BaseModel, adapter, partial_of, written_aside
from engine.trainer.packing import padded
from engine.trainer.ranks import Ranks

SAMPLES = [
    "What is 17 + 25?",
    "Hello! How are you today?",
    'Answer in JSON: {"answer": 42}',
    "Write the words in reverse order: one two three four.",
    "The quick brown fox jumps over the lazy dog, and then it sleeps until the evening.",
]

# Of one written file, whose tensors are in memory together; a larger tensor gets a file of its own.
FILE_BYTES_MAX = 2**31
WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def merge_adapter(base: BaseModel, checkpoint: Path, directory: Path, beat: CountedBeat = no_beat) -> float:
    """Writes the folder and returns its difference from the base with its adapter: the largest difference of a token's
    log-probability over some texts, in nats. With a beat after each tensor.

    The base model in memory stays as it is: other jobs use it. Where that is in 4 bits, what is written is not: the
    weights of the base's files, with which both sides of the difference are calculated.
    """
    texts = [encode(base.tokenizer, text) for text in sample_texts(base)]
    tokens_BT = padded(texts, base.device)
    with (
        adapter(base, checkpoint) as model,
        torch.no_grad(),
        TensorFiles(files_of(base.path)) as source,
        written_by_first(base.ranks, directory) as aside,
    ):
        adapted = by_weight(
            {name: layer for name, layer in cast(Any, model).named_modules() if isinstance(layer, LoraLayer)}
        )
        in_four_bits = by_weight(layers_in_four_bits(model))
        if missing := sorted((adapted | in_four_bits).keys() - source.names.keys()):
            raise Problem(f"the files of the base model name its layers otherwise: they have no {missing[0]}")
        total = len(source.names)
        with weights_from(source, in_four_bits, lambda: beat(0, total)):
            expected_BT = logprobs(model, tokens_BT)
        if base.ranks.is_first:
            write_merged(base, source, adapted, aside, beat)
            describe(base, aside)
        base.ranks.wait()
        with (
            TensorFiles(files_of(str(aside))) as written,
            model.disable_adapter(),
            weights_from(
                written,
                in_four_bits | {name: layer.get_base_layer() for name, layer in adapted.items()},
                lambda: beat(total, total),
            ),
        ):
            found_BT = logprobs(model, tokens_BT)
    gaps = [(found_BT - expected_BT)[row, : len(text) - 1].abs().max() for row, text in enumerate(texts)]
    return float(max(gaps))


@contextmanager
def written_by_first(ranks: Ranks, directory: Path) -> Generator[Path]:
    """Of several ranks the others read what the first writes, until all are done."""
    if ranks.is_first:
        with written_aside(directory) as aside:
            yield aside
            ranks.wait()
    else:
        yield partial_of(directory)
        ranks.wait()


def by_weight(layers: Mapping[str, Any]) -> dict[str, Any]:
    """Layers of a model with an adapter, by the names of their weights in the base's files."""
    return {
        f"{name.removeprefix('base_model.model.').removesuffix('.base_layer')}.weight": layer
        for name, layer in layers.items()
    }


def write_merged(
    base: BaseModel, source: "TensorFiles", adapted: dict[str, Any], directory: Path, beat: CountedBeat
) -> None:
    """Every tensor of the base in the precision that it is computed in, the adapted ones with their adapter."""
    index: dict[str, str] = {}
    shards = source.shards(base.dtype)
    for number, names in enumerate(shards, 1):
        file = WHOLE if len(shards) == 1 else f"model-{number:05}-of-{len(shards):05}.safetensors"
        shard: dict[str, Tensor] = {}
        for name in names:
            tensor = source.read(name)
            if name in adapted:
                tensor = merged_weight(tensor, adapted[name], base.dtype)
            shard[name] = tensor.to(base.dtype) if tensor.is_floating_point() else tensor
            beat(len(index), len(source.names))
            index[name] = file
        save_file(shard, directory / file, metadata={"format": "pt"})
    if len(shards) > 1:
        (directory / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": index}) + "\n")


def merged_weight(weight: Tensor, layer: Any, dtype: torch.dtype) -> Tensor:
    """Rounded once, to the precision that the base has in memory: the adapter is float32, also beside bfloat16."""
    delta = layer.get_delta_weight("default").float()
    # A base on the device computes with what its files hold in this precision.
    return (weight.to(delta.device, dtype).float() + delta).to(dtype).cpu()


def describe(base: BaseModel, directory: Path) -> None:
    config = copy.deepcopy(cast(Any, base.model.config))
    config.architectures = [type(base.model).__name__]
    config.dtype = base.dtype
    if hasattr(config, "quantization_config"):
        # That of the base in memory; these files are in full precision.
        del config.quantization_config
    config.save_pretrained(directory)
    if generation := cast(Any, base.model).generation_config:
        generation.save_pretrained(directory)
    cast(Any, base.tokenizer).save_pretrained(directory)


@contextmanager
def weights_from(files: "TensorFiles", layers: dict[str, Any], beat: Beat) -> Generator[None]:
    """Linear layers that read their weights anew each time, by their names in these files, with a beat for each."""

    def forward(layer: Any, name: str, x: Tensor) -> Tensor:
        beat()
        return torch.nn.functional.linear(x, files.read(name).to(x.device, x.dtype), layer.bias)

    for name, layer in layers.items():
        layer.forward = partial(forward, layer, name)
    try:
        yield
    finally:
        for layer in layers.values():
            del layer.forward


def files_of(model: str) -> list[Path]:
    """Of a folder, or of an id of the hub whose files are in its cache."""

    def found(name: str) -> Path | None:
        path = cached_file(model, name, _raise_exceptions_for_missing_entries=False)
        return Path(path) if path else None

    if index := found(INDEX):
        return sorted({cast(Path, found(name)) for name in json.loads(index.read_text())["weight_map"].values()})
    if whole := found(WHOLE):
        return [whole]
    raise Problem(f"the base model {model} has no {WHOLE}: only models in that format can be merged")


class TensorFiles:
    """The tensors of some files by name, read one at a time."""

    def __init__(self, files: list[Path]) -> None:
        self._open = ExitStack()
        self.names: dict[str, Any] = {}
        for file in files:
            opened = self._open.enter_context(cast(Any, safe_open)(file, framework="pt"))
            names: list[str] = opened.keys()
            self.names |= dict.fromkeys(names, opened)

    def __enter__(self) -> "TensorFiles":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.__exit__(*cast(Any, error))

    def read(self, name: str) -> Tensor:
        return self.names[name].get_tensor(name)

    def shards(self, dtype: torch.dtype) -> list[list[str]]:
        """Names, each list of at most FILE_BYTES_MAX in this precision."""
        shards: list[list[str]] = [[]]
        used = 0
        for name, file in self.names.items():
            size = torch.Size(file.get_slice(name).get_shape()).numel() * dtype.itemsize
            if shards[-1] and used + size > FILE_BYTES_MAX:
                shards.append([])
                used = 0
            shards[-1].append(name)
            used += size
        return shards


def sample_texts(base: BaseModel) -> list[str]:
    prompts = [
        cast(Any, base.tokenizer).apply_chat_template([{"role": "user", "content": text}], tokenize=False)
        for text in SAMPLES
    ]
    return [*SAMPLES, *prompts]


@torch.no_grad()
def logprobs(model: Any, tokens_BT: Tensor) -> Tensor:
    """Of each token but the first."""
    all_logprobs_BTV = model(tokens_BT).logits.float().log_softmax(-1)
    return all_logprobs_BTV[:, :-1].gather(-1, tokens_BT[:, 1:, None]).squeeze(-1)
