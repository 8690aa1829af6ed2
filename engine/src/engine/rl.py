"""Reinforcement learning from trajectory groups: one job is one pass, one row of packed sequences is one step.

    load     the adapter, and the optimizer where the adapter was trained before
    tokenise the groups; attempts better than their group's mean get a positive advantage, worse ones a negative one
    for each row: log-probabilities -> policy loss -> gradient -> AdamW
    save     the adapter, the optimizer and the step count

All randomness is a function of the job's seed and of the gradient steps taken before, so training that goes on from
a saved folder equals training that never stopped.

Axes: B sequence in a batch, T token position, N sampled token of the row, D hidden unit, V vocabulary.
"""

import json
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, cast

import torch
from peft import PeftModel
from torch import Tensor

from engine import data, loss
from engine.contract import RlConfig, RlJob
from engine.messages import Report
from engine.model import (
    BaseModel,
    adapter,
    copy_checkpoint,
    load_optimizer,
    save_optimizer,
    save_weights,
    trainable,
    written_aside,
)

BETAS = (0.9, 0.99)
WEIGHT_DECAY = 0.1
GRADIENT_NORM_MAX = 0.1

Metrics = dict[str, float]


def train(base: BaseModel, job: RlJob, report: Report) -> None:
    config, source = job.config, Path(job.checkpoint_dir)
    with adapter(base, source) as model:
        optimizer = torch.optim.AdamW(
            trainable(model).values(), lr=config.learning_rate, betas=BETAS, weight_decay=WEIGHT_DECAY
        )
        steps_before = resume(optimizer, model, source)
        report.progress("loading", 1, 1)

        dataset = tokenize(base, job, report)
        rng = Random(f"{config.seed}/{steps_before}")
        rows = make_rows(dataset, config, rng, base.device)
        old_logprobs = [row.rollout_logprobs_N for row in rows]
        if config.precalculate_logprobs:
            old_logprobs = [current_logprobs(model, row) for row in report.each("tokenizing", rows, len(rows))]

        report.started(len(rows))
        steps: list[Metrics] = []
        for row, old_logprobs_N in zip(report.each("training", rows, len(rows)), old_logprobs, strict=True):
            metrics = gradient_step(model, optimizer, row, old_logprobs_N, config)
            # Only the first row meets the policy that sampled it; the gap of later ones is what the job has learnt.
            steps.append(without_gap(metrics) if steps else metrics)
            report.gradient_step(steps[-1])

        report.progress("saving", 0, 1)
        with written_aside(Path(job.output_dir)) as directory:
            copy_checkpoint(source, directory)
            if steps:
                save_weights(model, directory)
                save_optimizer(optimizer, model, directory)
                save_state(steps_before + len(steps), directory)
        report.saved(job.output_dir, {**dataset.metrics(), **job_metrics(steps)})


def tokenize(base: BaseModel, job: RlJob, report: Report) -> data.Dataset:
    dataset = data.Dataset()
    path = Path(job.trajectory_groups_path)
    with path.open("rb") as lines:
        num_groups = sum(1 for _ in lines)
    # One line in memory at a time: a job may hold hundreds of megabytes of logprobs.
    with path.open("rb") as lines:
        for line in report.each("tokenizing", lines, num_groups):
            data.add_group(dataset, line, base.tokenizer, job.config, base.num_positions)
    return dataset


def make_rows(dataset: data.Dataset, config: RlConfig, rng: Random, device: torch.device) -> list[data.Row]:
    sequences = [sequence for group in dataset.sequences_by_group for sequence in group]
    if not sequences:
        return []
    data.balance_and_rescale(sequences, config.advantage_balance)
    packed = data.pack(dataset.sequences_by_group, config.packed_sequence_length, rng)
    return [data.to_row(row, config.packed_sequence_length, device) for row in packed]


def gradient_step(
    model: PeftModel, optimizer: torch.optim.Optimizer, row: data.Row, old_logprobs_N: Tensor, config: RlConfig
) -> Metrics:
    logprobs_N, entropy_N = forward(model, row)
    result = loss.policy_loss(logprobs_N, old_logprobs_N, row.advantages_N, row.weights_N, row.sequence_N, config)
    if not result.loss.isfinite():
        raise ValueError(
            f"the loss of a row is {result.loss.item()}: the policy is too far from the one that sampled the row"
        )
    optimizer.zero_grad()
    result.loss.backward()
    gradient_norm = torch.nn.utils.clip_grad_norm_(
        trainable(model).values(), GRADIENT_NORM_MAX, error_if_nonfinite=True
    )
    optimizer.step()
    known_N = ~row.rollout_logprobs_N.isnan()
    gap_N = (row.rollout_logprobs_N - logprobs_N.detach()).abs()[known_N]
    num_tokens = len(row.tokens_N)
    return {
        "loss": result.loss.item(),
        "entropy": (entropy_N * row.weights_N).sum().item() / (num_tokens + 1e-6),
        "grad_norm": gradient_norm.item(),
        "learning_rate": config.learning_rate,
        "num_trainable_tokens": float(num_tokens),
        "num_trajectories": float(row.num_trajectories),
        "on_policy/logprob_gap_mean": gap_N.mean().item() if len(gap_N) else 0.0,
        "on_policy/logprob_gap_max": gap_N.max().item() if len(gap_N) else 0.0,
        "on_policy/share_clipped": result.share_clipped.item(),
        "on_policy/tokens_without_logprobs": float(num_tokens - len(gap_N)),
    }


def without_gap(metrics: Metrics) -> Metrics:
    return {name: value for name, value in metrics.items() if not name.startswith("on_policy/logprob_gap")}


def forward(model: PeftModel, row: data.Row) -> tuple[Tensor, Tensor]:
    """log pi and entropy of the row's sampled tokens; both shape N.

    A row runs as padded batches of its sequences instead of one packed sequence with a block mask: the same result,
    and attention stays quadratic in the sequence instead of in the row.
    """
    causal_lm = cast(Any, model.get_base_model())
    hidden_ND = torch.cat(
        [
            causal_lm.model(input_ids=tokens_BT, use_cache=False).last_hidden_state[predicts_BT]
            for tokens_BT, predicts_BT in row.batches
        ]
    )
    return loss.logprobs_and_entropy(causal_lm.lm_head(hidden_ND), row.tokens_N)


@torch.no_grad()
def current_logprobs(model: PeftModel, row: data.Row) -> Tensor:
    return forward(model, row)[0]


def resume(optimizer: torch.optim.Optimizer, model: PeftModel, source: Path) -> int:
    """The gradient steps taken before. Moments gathered by another kind of training are left behind."""
    path = source / "trainer_state.json"
    if not path.exists():
        return 0
    state = json.loads(path.read_text())
    if state["kind"] == "rl":
        load_optimizer(optimizer, model, source)
    return int(state["gradient_steps"])


def save_state(gradient_steps: int, directory: Path) -> None:
    state = {"kind": "rl", "gradient_steps": gradient_steps}
    (directory / "trainer_state.json").write_text(json.dumps(state) + "\n")


# How a metric of the steps becomes one of the job, where that is not the mean.
JOB_METRICS: dict[str, Callable[[list[float]], float]] = {
    "num_trainable_tokens": math.fsum,
    "num_trajectories": math.fsum,
    "on_policy/tokens_without_logprobs": math.fsum,
    "on_policy/logprob_gap_max": max,
}


def job_metrics(steps: list[Metrics]) -> Metrics:
    if not steps:
        return {"num_gradient_steps": 0.0, "num_trainable_tokens": 0.0, "num_trajectories": 0.0}
    combined = {name: JOB_METRICS.get(name, fmean)([step[name] for step in steps if name in step]) for name in steps[0]}
    return {**combined, "num_gradient_steps": float(len(steps))}
