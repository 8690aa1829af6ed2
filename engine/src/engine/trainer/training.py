"""What RL and SFT have in common: a job loads a checkpoint, takes gradient steps in order, and saves the next one.

A job that is sent again after a crash continues from the last step it kept. Everything a step depends on is a
function of the job and of the steps before, so the result is the same as without the crash.

Axes: M sampled token of a batch.
"""

import math
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch
from peft import PeftModel
from torch import nn

from engine.beat import BEAT_S
from engine.contract import RlJob, SftJob
from engine.trainer import metrics, state
from engine.trainer.errors import Problem
from engine.trainer.messages import Report
from engine.trainer.metrics import Metrics
from engine.trainer.model import BaseModel, adapter, save_weights, written_aside
from engine.trainer.packing import Row, to_row
from engine.trainer.policy import predict

# Of AdamW, for RL and SFT alike; as the reference trainer has them (docs/rl-quirks.md).
BETAS = (0.9, 0.99)

# Called with each state that is on the disk, on a thread, while the next steps are taken.
PublishState = Callable[[], None]


def not_published() -> None:
    pass


@dataclass
class Training:
    base: BaseModel
    model: PeftModel
    optimizer: torch.optim.Optimizer
    kind: state.Kind
    job: RlJob | SftJob
    report: Report
    publish_state: PublishState
    steps_before: int  # gradient steps of earlier jobs
    adapter_config: bytes  # of the source, whose folder may be gone when the job ends
    _found: state.Progress | None
    _steps: list[Metrics] = field(default_factory=list[Metrics])
    _last_row: Row | None = None  # that the weights were updated on

    @property
    def steps_done(self) -> int:
        """Steps that this job took before it was sent again."""
        return len(self._found.steps) if self._found else 0

    def run(self, num_steps: int, take_step: Callable[[int], Metrics]) -> None:
        """Report all steps, and take the missing ones. Until here the weights are the checkpoint's."""
        self.report.started(num_steps)
        if self._found:
            self._found.restore(self.optimizer, self.model)
            self._steps = self._found.steps
        for done in self._steps:
            self.report.gradient_step(done)
        work_dir, quantization = Path(self.job.work_dir), self.base.quantization
        with closing(state.ProgressKeeper(work_dir, self.publish_state, quantization)) as keeper:
            for index in range(len(self._steps), num_steps):
                self._steps.append(metrics.finite(take_step(index)))
                if self.base.ranks.is_first and index + 1 < num_steps:
                    keeper.keep(self._steps, self.optimizer, self.model)
                self.report.gradient_step(self._steps[-1])
            if self._last_row is not None:
                self._require_sound(self._last_row)
            # The first rank alone keeps states, and all wait for it here: they ask together whether to go on.
            while not self.base.ranks.as_first(keeper.wait(BEAT_S)):
                self.report.progress("training", num_steps, num_steps)

    def update(self, row: Row, learning_rate: float, gradient_norm_max: float) -> float:
        """One step of the optimizer along the present gradients, which are the row's from all ranks together; returns
        their norm before clipping."""
        parameters = state.trainable(self.model).values()
        self.base.ranks.sum([parameter.grad for parameter in parameters if parameter.grad is not None])
        norm = torch.nn.utils.clip_grad_norm_(parameters, gradient_norm_max).item()
        if not math.isfinite(norm):
            raise Problem(f"the gradient of a step is {norm}: {WHEN_NOT_FINITE}")
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        self.optimizer.step()
        self._last_row = row
        return norm

    def _require_sound(self, row: Row) -> None:
        """What a step does to the weights shows in the next one, and the last step has none: a checkpoint that answers
        with NaN, or that no job can go on from, is not saved. Weights that are far too large give finite
        log-probabilities for long, while their gradients overflow already, so one sequence is also taken backwards."""
        require_finite_weights(self.model)
        longest = max(row.sequences, key=len)
        base = self.base
        (batch,) = to_row([longest], base.device, share_prefixes=False, batch_tokens=base.batch_tokens).batches
        self.optimizer.zero_grad()
        logprobs_M, entropy_M = predict(self.model, batch, base.keep(batch.num_tokens))
        logprobs_M.sum().backward()
        gradients = [weight.grad for weight in state.trainable(self.model).values() if weight.grad is not None]
        found = [logprobs_M.sum(), entropy_M.sum(), nn.utils.get_total_norm(gradients)]
        # All ranks ran the same, and must agree.
        if not base.ranks.least(float(all(value.isfinite() for value in found))):
            raise Problem(
                f"the log-probabilities or their gradients are not finite after the last step: {WHEN_NOT_FINITE}"
            )

    def save(self, of_data: Metrics) -> Metrics:
        """Returns those of the job."""
        source, output = Path(self.job.checkpoint_dir), Path(self.job.output_dir)
        self.report.progress("saving", 0, 1)
        if self.base.ranks.is_first:
            self._write(source, output)
        return {**of_data, **metrics.of_job(self._steps)}

    def _write(self, source: Path, output: Path) -> None:
        with written_aside(output) as directory:
            if not self._steps:
                state.copy_checkpoint(source, directory)
                return
            (directory / "adapter_config.json").write_bytes(self.adapter_config)
            save_weights(self.model, directory)
            num_steps = self.steps_before + len(self._steps)
            state.save_training(self.kind, num_steps, self.optimizer, self.model, directory)


WHEN_NOT_FINITE = (
    "training has diverged. Go on from an earlier step with a lower learning_rate, and check that the "
    "log-probabilities of the trajectories are those of this model"
)


def require_finite(loss: torch.Tensor) -> None:
    if not loss.isfinite():
        raise Problem(f"the loss of a step is {loss.item()}: {WHEN_NOT_FINITE}")


def require_finite_weights(model: nn.Module) -> None:
    if not nn.utils.get_total_norm(state.trainable(model).values(), math.inf).isfinite():
        raise Problem(f"the weights are not finite after the last step: {WHEN_NOT_FINITE}")


@contextmanager
def training(
    base: BaseModel,
    job: RlJob | SftJob,
    kind: state.Kind,
    weight_decay: float,
    report: Report,
    publish_state: PublishState,
) -> Generator[Training]:
    source = Path(job.checkpoint_dir)
    adapter_config = (source / "adapter_config.json").read_bytes()
    with adapter(base, source) as model:
        optimizer = torch.optim.AdamW(state.trainable(model).values(), betas=BETAS, weight_decay=weight_decay)
        steps_before = state.load_training(kind, optimizer, model, source)
        report.progress("loading", 1, 1)
        # One answer for all: an earlier attempt may still be writing.
        found = base.ranks.from_first(lambda: state.find_progress(Path(job.work_dir), base.quantization))
        yield Training(base, model, optimizer, kind, job, report, publish_state, steps_before, adapter_config, found)
