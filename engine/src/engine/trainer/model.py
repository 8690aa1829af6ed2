"""The base model, and the LoRA adapters trained on it.

An adapter's folder holds adapter_config.json and adapter_model.safetensors, as PEFT and vLLM read them. After
training it also holds what state.py keeps there, so that training can continue from it.
"""

import json
import math
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.tuners.lora import LoraLayer
from peft.utils import (
    get_peft_model_state_dict,  # pyright: ignore[reportUnknownVariableType]
    set_peft_model_state_dict,  # pyright: ignore[reportUnknownVariableType]
)
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor, nn
from transformers import AutoTokenizer, PreTrainedModel, PreTrainedTokenizerBase

from engine.contract import LoraSpec
from engine.problem import one_line
from engine.trainer import four_bits, low_rank
from engine.trainer.architecture import (
    body_of,
    check,
    load_model,
    num_positions,
    shares_prefixes,
    targets_for_text,
    text_config,
)
from engine.trainer.checkpointing import Checkpointing, batch_tokens, checkpoint_from
from engine.trainer.errors import Problem, is_out_of_memory
from engine.trainer.four_bits import Quantization
from engine.trainer.layers import Keep
from engine.trainer.lora_config import lora_config, scales
from engine.trainer.positions import fix_positions
from engine.trainer.ranks import ALONE, Ranks

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
# Any text can be written in bytes. Where its file is missing, a tokenizer loads all the same and knows next to none.
VOCABULARY_MIN = 256


MetricPasses = Literal["all", "sampled", "none"]


@dataclass(frozen=True)
class BaseModel:
    name: str  # as adapters and messages call it; never a path of this machine
    path: str  # its folder, or its id on the hub
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    device: torch.device
    dtype: torch.dtype
    # Tokens of a batch from which on layers keep only their inputs for the backward pass (checkpointing.py).
    checkpoint_from: float = math.inf
    # Of which rows the policy that a job starts from and the base model are asked for metrics alone.
    metric_passes: MetricPasses = "all"
    # The processes among which the layers' weights are sharded, and this one's place.
    ranks: Ranks = ALONE
    quantization: Quantization = "none"
    # Whether what sequences begin with alike is run once.
    shares_prefixes: bool = False

    @property
    def num_positions(self) -> int:
        return num_positions(self.model)

    @property
    def num_embeddings(self) -> int:
        """Ids that the model takes and that vLLM samples. Many models have more than their tokenizer has tokens."""
        return len(cast(Any, self.model).get_input_embeddings().weight)

    def keep(self, num_tokens: int) -> Keep:
        """What layers keep of a batch of so many tokens for its backward pass."""
        return "inputs" if num_tokens >= self.checkpoint_from else "all"

    @property
    def batch_tokens(self) -> int:
        """The most that run at once, except a longer sequence, or half as many after a long prefix (packing.py)."""
        return batch_tokens(self.device, self.checkpoint_from)


def load_base(
    path: str,
    name: str,
    checkpointing: Checkpointing = "auto",
    metric_passes: MetricPasses = "all",
    ranks: Ranks = ALONE,
    quantization: Quantization = "none",
    served_length: int | None = None,
) -> BaseModel:
    """On a CPU in float32: there the log-probabilities of vLLM and of this trainer agree to 1e-5, in bfloat16 only to
    7e-2. On a GPU in bfloat16, the adapter still in float32.

    :param served_length: of prompts and answers in vLLM, where it is not the model's own
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    try:
        tokenizer, model = ranks.one_by_one(lambda: loaded(path, dtype, device, ranks, quantization))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        # The usual advice is for a job.
        raise Problem(f"out of memory: the base model {path} needs a larger machine ({one_line(error)})") from error
    if len(tokenizer) < VOCABULARY_MIN:
        raise Problem(f"the base model {path} must be a folder with tokenizer.json: its tokenizer knows no tokens")
    if not cast(Any, tokenizer).chat_template:
        raise Problem(f"the base model {path} has no chat template: add chat_template.jinja to its folder")
    fix_positions(model, served_length)
    check(model)
    return BaseModel(
        name,
        path,
        model,
        tokenizer,
        device,
        dtype,
        ranks.least(checkpoint_from(checkpointing, text_config(model), device, dtype)),
        metric_passes,
        ranks,
        quantization,
        # All ranks run the same batches.
        bool(ranks.least(float(shares_prefixes(model)))),
    )


def loaded(
    path: str, dtype: torch.dtype, device: torch.device, ranks: Ranks, quantization: Quantization
) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    try:
        # A folder may also hold tekken.json, and mistral-common's tokenizer, which vLLM brings, has no chat template.
        tokenizer = cast(PreTrainedTokenizerBase, AutoTokenizer.from_pretrained(path, mistral_format=False))
        four_bits.check_stored(path, quantization)
        how: dict[str, Any] = {}
        if quantization == "nf4":
            how = four_bits.how_to_load(dtype, device)
        elif device.type == "cuda" and ranks.size == 1:
            # Each weight at once: in the memory of the machine, the model would be there as a whole first.
            how = {"device_map": {"": torch.cuda.current_device()}}
        model = load_model(path, dtype, **how)
    except Exception as error:
        if isinstance(error, Problem) or is_out_of_memory(error):
            raise
        raise Problem(
            f"the base model {path} cannot be loaded: it must be a folder with config.json, model.safetensors and a "
            f"tokenizer, or the id of a model on the Hugging Face hub ({one_line(error)})"
        ) from error
    model.requires_grad_(False)
    if quantization == "nf4":
        # Whole on each rank: a layer in 4 bits is not sharded.
        four_bits.keep_layout(model)
        return tokenizer, model
    if ranks.size > 1:
        ranks.shard(model, body_of(model), device)
    cast(Any, model).to(device)
    return tokenizer, model


def create_adapter(base: BaseModel, spec: LoraSpec, directory: Path) -> None:
    """A fresh adapter that changes nothing yet: A random, B zero. The same seed gives the same bytes."""
    targets = targets_for_text(base.model, spec.target_modules)
    config = LoraConfig(
        r=spec.rank, lora_alpha=spec.alpha, target_modules=targets, task_type="CAUSAL_LM", lora_dropout=0.0
    )
    # Written by hand: PEFT would add its version, the path of the base model, and list the modules in random order.
    described = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base.name,
        "r": spec.rank,
        "lora_alpha": spec.alpha,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": targets,
    }
    torch.manual_seed(spec.seed)
    with injected(base.model, config) as model, written_aside(directory) as aside:
        (aside / "adapter_config.json").write_text(json.dumps(described, indent=2) + "\n")
        save_weights(model, aside)


@contextmanager
def adapter(base: BaseModel, directory: Path) -> Generator[PeftModel]:
    """The base model with the adapter of `directory` in training; the bare base model again afterwards."""
    weights = load_file(directory / "adapter_model.safetensors")
    config = lora_config(base.model, description(directory), weights)
    with injected(base.model, config) as model:
        load_weights(model, weights)
        with low_rank.use_light_lora(model):
            yield model


@contextmanager
def injected(bare: PreTrainedModel, config: LoraConfig) -> Generator[PeftModel]:
    """The model with fresh layers of LoRA in it; the bare model again afterwards."""
    try:
        model = cast(PeftModel, get_peft_model(bare, config))
    except BaseException:
        # Memory may run out after some layers.
        remove_lora(bare)
        raise
    try:
        yield model
    finally:
        model.unload()


def remove_lora(model: nn.Module) -> None:
    """Where there is no PeftModel yet that could unload itself."""
    for parent in [*model.modules()]:
        for name, child in [*parent.named_children()]:
            if isinstance(child, LoraLayer):
                setattr(parent, name, child.get_base_layer())
    if hasattr(model, "peft_config"):
        del model.peft_config


@contextmanager
def lent_weights(model: PeftModel, source: Path, directory: Path) -> Generator[None]:
    """Temporarily replaces the adapter of `source` by the weights of `directory`: two steps of one model."""
    own = {name: tensor.clone() for name, tensor in state_of(model).items()}
    lent = load_file(directory / "adapter_model.safetensors")
    if lent.keys() != own.keys() or scales(description(directory)) != scales(description(source)):
        raise Problem(f"the reference checkpoint {directory.name} has other layers, ranks or alphas than the model")
    try:
        load_weights(model, lent)
        yield
    finally:
        load_weights(model, own)


def changes_nothing(model: PeftModel) -> bool:
    """Whether it is the base model, as before a model's first step: B is zero."""
    return not any(tensor.any() for name, tensor in state_of(model).items() if ".lora_B." in name)


def description(directory: Path) -> Any:
    return json.loads((directory / "adapter_config.json").read_text())


def load_weights(model: PeftModel, weights: dict[str, Tensor]) -> None:
    if weights.keys() != state_of(model).keys():
        raise Problem("the adapter was not made for this base model: its weights have other names")
    set_peft_model_state_dict(model, weights)


def save_weights(model: PeftModel, directory: Path) -> None:
    tensors = {name: tensor.contiguous() for name, tensor in state_of(model).items()}
    save_file(tensors, directory / "adapter_model.safetensors")


def state_of(model: PeftModel) -> dict[str, Tensor]:
    """The adapter's weights by their names on disk."""
    # NOTE: "auto" instead of False would ask the Hugging Face hub whether the vocabulary was resized.
    return get_peft_model_state_dict(model, save_embedding_layers=False)


def partial_of(directory: Path) -> Path:
    return directory.with_name(directory.name + ".partial")


@contextmanager
def written_aside(directory: Path) -> Generator[Path]:
    """A folder to write to that becomes `directory` once it is complete, and is removed on failure."""
    aside = partial_of(directory)
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True)
        yield aside
        shutil.rmtree(directory, ignore_errors=True)
        aside.rename(directory)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
