"""The state that training needs to continue, on disk: in a checkpoint's folder from job to job, in a job's work folder
from step to step.

trainer_state.json       the kind of training and the gradient steps taken so far
optimizer.safetensors    AdamW's moments and step count, each under the name of its parameter
progress.pt              inside a job: adapter, optimizer and the metrics of the steps taken so far
"""

import io
import json
import pickle
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor, nn

from engine.metrics import Metrics
from engine.model import ADAPTER_FILES, load_weights, state_of

TRAINING_FILES = ("optimizer.safetensors", "trainer_state.json")
PROGRESS_FILE = "progress.pt"

Kind = Literal["rl", "sft"]
Optimizer = torch.optim.Optimizer


def copy_checkpoint(source: Path, directory: Path) -> None:
    for name in (*ADAPTER_FILES, *TRAINING_FILES):
        if (source / name).exists():
            shutil.copyfile(source / name, directory / name)


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


# ---- between jobs ----


def save_training(kind: Kind, gradient_steps: int, optimizer: Optimizer, model: nn.Module, directory: Path) -> None:
    tensors: dict[str, Tensor] = {}
    for name, parameter in trainable(model).items():
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{name}/{moment}"] = tensor
    save_file(tensors, directory / "optimizer.safetensors")
    state = {"kind": kind, "gradient_steps": gradient_steps}
    (directory / "trainer_state.json").write_text(json.dumps(state) + "\n")


def load_training(kind: Kind, optimizer: Optimizer, model: nn.Module, directory: Path) -> int:
    """The gradient steps taken before. Moments gathered by another kind of training are left behind."""
    path = directory / "trainer_state.json"
    if not path.exists():
        return 0
    state = json.loads(path.read_text())
    if state["kind"] == kind:
        parameters = trainable(model)
        for key, tensor in load_file(directory / "optimizer.safetensors").items():
            name, moment = key.rsplit("/", 1)
            # AdamW keeps its step count on the CPU, the moments beside the parameter.
            on_device = tensor if moment == "step" else tensor.to(parameters[name].device)
            optimizer.state[parameters[name]][moment] = on_device
    return int(state["gradient_steps"])


# ---- inside a job ----


@dataclass(frozen=True)
class Progress:
    """The state of a job after some of its steps."""

    steps: list[Metrics]
    adapter: dict[str, Tensor]
    optimizer: dict[str, Any]

    def restore(self, optimizer: Optimizer, model: PeftModel) -> None:
        load_weights(model, self.adapter)
        optimizer.load_state_dict(self.optimizer)


def keep_progress(steps: list[Metrics], optimizer: Optimizer, model: PeftModel, work_dir: Path) -> None:
    """One file that is replaced atomically: whenever the worker ends, it is whole. It is not fsynced, which can take as
    long as a step: if the machine fails as well, the file's checksum shows it."""
    work_dir.mkdir(parents=True, exist_ok=True)
    path, aside = work_dir / PROGRESS_FILE, work_dir / (PROGRESS_FILE + ".partial")
    try:
        # Written by Python, whose errors say when the disk is full.
        content = io.BytesIO()
        torch.save({"steps": steps, "adapter": state_of(model), "optimizer": optimizer.state_dict()}, content)
        aside.write_bytes(content.getbuffer())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def find_progress(work_dir: Path) -> Progress | None:
    """None when there is none, or a damaged one: the job then starts over."""
    path = work_dir / PROGRESS_FILE
    if not path.exists():
        return None
    try:
        # A .pt file is a zip archive; PyTorch itself does not look at its checksums.
        if damaged := zipfile.ZipFile(path).testzip():
            raise ValueError(f"the checksum of {damaged} is another")
        return Progress(**cast(dict[str, Any], torch.load(path, map_location="cpu", weights_only=True)))
    except (OSError, RuntimeError, ValueError, TypeError, pickle.UnpicklingError, zipfile.BadZipFile) as error:
        print(f"ignored the damaged {path}: {error}", file=sys.stderr, flush=True)
        return None
