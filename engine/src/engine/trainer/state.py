"""The state that training needs to continue, on disk: in a checkpoint's folder from job to job, in a job's work folder
from step to step.

trainer_state.json       the kind of training and the gradient steps taken so far
optimizer.safetensors    AdamW's moments and step count, each under the name of its parameter
progress.pt              inside a job: adapter, optimizer and the metrics of the steps taken so far
"""

import json
import pickle
import shutil
import sys
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file  # pyright: ignore[reportUnknownVariableType]
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only  # pyright: ignore[reportUnknownVariableType]

from engine.problem import Problem
from engine.trainer.four_bits import Quantization
from engine.trainer.metrics import Columns, Metrics, steps_of
from engine.trainer.model import ADAPTER_FILES, load_weights, state_of

TRAINING_FILES = ("optimizer.safetensors", "trainer_state.json")
PROGRESS_FILE = "progress.pt"

# What reading a damaged state may raise.
DAMAGED = (OSError, RuntimeError, ValueError, TypeError, KeyError, pickle.UnpicklingError, zipfile.BadZipFile)

Kind = Literal["rl", "sft"]
Optimizer = torch.optim.Optimizer


def copy_checkpoint(source: Path, directory: Path) -> None:
    """An adapter that was not trained here has no training files."""
    for name in (*ADAPTER_FILES, *(name for name in TRAINING_FILES if (source / name).exists())):
        try:
            shutil.copyfile(source / name, directory / name)
        except FileNotFoundError as error:
            raise Problem(f"the checkpoint {source.name} has lost its {name} while the job ran") from error


def trainable(model: nn.Module) -> dict[str, nn.Parameter]:
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def save_training(kind: Kind, gradient_steps: int, optimizer: Optimizer, model: nn.Module, directory: Path) -> None:
    tensors: dict[str, Tensor] = {}
    for name, parameter in trainable(model).items():
        for moment, tensor in optimizer.state[parameter].items():
            tensors[f"{name}/{moment}"] = tensor
    save_file(tensors, directory / "optimizer.safetensors")
    state = {"kind": kind, "gradient_steps": gradient_steps}
    (directory / "trainer_state.json").write_text(json.dumps(state) + "\n")


def load_training(kind: Kind, optimizer: Optimizer, model: nn.Module, directory: Path) -> int:
    """The gradient steps taken before. Moments gathered by another kind of training are left behind, and so is the
    state of another program: Hugging Face's trainers write a file of the same name."""
    path = directory / "trainer_state.json"
    state: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if "kind" not in state:
        return 0
    if state["kind"] == kind:
        parameters = trainable(model)
        for key, tensor in load_file(directory / "optimizer.safetensors").items():
            name, moment = key.rsplit("/", 1)
            # AdamW keeps its step count on the CPU, the moments beside the parameter.
            on_device = tensor if moment == "step" else tensor.to(parameters[name].device)
            optimizer.state[parameters[name]][moment] = on_device
    return int(state["gradient_steps"])


@dataclass(frozen=True)
class Progress:
    """The state of a job after some of its steps."""

    steps: list[Metrics]
    adapter: dict[str, Tensor]
    optimizer: dict[str, Any]
    # Of the base model that the steps were taken on; a state that does not say counts as none.
    quantization: Quantization = "none"

    def restore(self, optimizer: Optimizer, model: PeftModel) -> None:
        load_weights(model, self.adapter)
        optimizer.load_state_dict(self.optimizer)


class ProgressKeeper:
    """Keeps the state of a job while its next steps are taken: what is written is a copy, and where a step is done
    before the last one's state is on the disk, only the newest of those that wait is written after it.

    One file that is replaced atomically: whenever the worker ends, it is whole. It is not fsynced, which can take as
    long as a step: if the machine fails as well, the file's checksum shows it. A job that is resumed from a step before
    the last takes the steps in between again, with the same results.

    What is on the disk is then published, which may take longer, by the same thread. A state that the workspace does
    not take is left out: it serves the loss of this machine alone, and the next one comes soon. Any other error, which
    the next one would meet as well, ends the job.
    """

    def __init__(self, work_dir: Path, publish: Callable[[], None], quantization: Quantization = "none") -> None:
        self._work_dir = work_dir
        self._quantization = quantization
        self._publish = publish
        self._metrics = Columns()
        self._newest: dict[str, Any] | None = None
        self._changed = threading.Condition()
        self._writer: threading.Thread | None = None
        self._error: BaseException | None = None

    def keep(self, steps: list[Metrics], optimizer: Optimizer, model: PeftModel) -> None:
        """Raises what ended an earlier write."""
        self._metrics.append_from(steps)
        weights = {"adapter": state_of(model), "optimizer": optimizer.state_dict()}
        copied = {
            **cast(dict[str, Any], tree_map_only(Tensor, copy_of, weights)),
            "num_steps": len(self._metrics),
            "metrics": self._metrics.copied(),
            "quantization": self._quantization,
        }
        with self._changed:
            self._raise()
            self._newest = copied
            if self._writer is None:
                self._writer = threading.Thread(target=self._write, daemon=True)
                self._writer.start()

    def wait(self, timeout_s: float) -> bool:
        """Whether the newest state is on the disk and published, at the latest after so long. Raises what ended a
        write."""
        with self._changed:
            ended = self._changed.wait_for(lambda: self._writer is None, timeout_s)
            self._raise()
            return ended

    def close(self) -> None:
        """What no write has begun with is not written any more: another attempt at the job may have the folder. The
        write in progress is left alone."""
        with self._changed:
            self._newest = None

    def _raise(self) -> None:
        if self._error:
            raise self._error

    def _write(self) -> None:
        while True:
            with self._changed:
                state, self._newest = self._newest, None
                if state is None or self._error:
                    self._writer = None
                    self._changed.notify_all()
                    return
            try:
                write_progress(state, self._work_dir)
                self._publish_if_possible()
            # Also what is no Exception, such as a panic of a library in Rust: if this thread ended with it, the job
            # would wait without end.
            except BaseException as error:
                self._error = error

    def _publish_if_possible(self) -> None:
        try:
            self._publish()
        except Problem as problem:
            print(f"a state was not published: {problem}", file=sys.stderr, flush=True)


def copy_of(tensor: Tensor) -> Tensor:
    return tensor.detach().to("cpu", copy=True)


def write_progress(state: dict[str, Any], work_dir: Path) -> None:
    work_dir.mkdir(parents=True, exist_ok=True)
    path, aside = work_dir / PROGRESS_FILE, work_dir / (PROGRESS_FILE + ".partial")
    try:
        # Tensor by tensor, by Python, whose errors say when the disk is full.
        with aside.open("wb") as file:
            torch.save(state, file)
        aside.replace(path)
    except RuntimeError as error:
        # PyTorch notices at the end that something is missing, and hides why.
        raise error.__context__ if isinstance(error.__context__, OSError) else error from None
    finally:
        aside.unlink(missing_ok=True)


def find_progress(work_dir: Path, quantization: Quantization) -> Progress | None:
    """None when there is none, a damaged one, or one of steps on a base model that was quantized otherwise: the job
    then starts over."""
    path = work_dir / PROGRESS_FILE
    if not path.exists():
        return None
    try:
        # A .pt file is a zip archive; PyTorch itself does not look at its checksums.
        if damaged := zipfile.ZipFile(path).testzip():
            raise ValueError(f"the checksum of {damaged} is another")
        state = cast(dict[str, Any], torch.load(path, map_location="cpu", weights_only=True))
        # An earlier release wrote the steps as they are.
        if "steps" not in state:
            state["steps"] = steps_of(state.pop("num_steps"), state.pop("metrics"))
        found = Progress(**state)
    except DAMAGED as error:
        print(f"ignored the damaged {path}: {error}", file=sys.stderr, flush=True)
        return None
    if found.quantization != quantization:
        was, now = found.quantization, quantization
        print(f"the job starts over: its steps are of a base model with quantization {was}, not {now}", file=sys.stderr)
        return None
    return found
