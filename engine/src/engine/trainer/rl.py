"""Reinforcement learning from trajectory groups: one job is one pass, one row of packed sequences is one step.

    load     the adapter, and the optimizer where the adapter was trained before
    tokenise the groups; attempts better than their group's mean get a positive advantage, worse ones a negative one
    measure  what the policy as it is, the base model and the reference say about each row
    for each row: log-probabilities -> policy loss -> gradient, batch by batch; then AdamW
    save     the adapter, the optimizer and the step count

All randomness is a function of the job's seed and of the gradient steps taken before, so training that continues
from a saved folder equals training that never stopped.

Axes: N sampled token of the row.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

import torch
from peft import PeftModel
from torch import Tensor

from engine.beat import Beat
from engine.contract import RlConfig, RlJob
from engine.trainer import data, loss, packing, policy
from engine.trainer.chat import num_without_reasoning
from engine.trainer.messages import Report
from engine.trainer.metrics import Metrics
from engine.trainer.model import BaseModel, changes_nothing, lent_weights
from engine.trainer.on_policy import Measured, health
from engine.trainer.packing import Row
from engine.trainer.training import PublishState, Training, not_published, require_finite, training

# As the reference trainer has them for RL (docs/rl-quirks.md).
WEIGHT_DECAY = 0.1
GRADIENT_NORM_MAX = 0.1


def train(base: BaseModel, job: RlJob, report: Report, publish_state: PublishState = not_published) -> Metrics:
    """Returns the metrics of the job, whose checkpoint is then in its output folder."""
    with training(base, job, "rl", WEIGHT_DECAY, report, publish_state) as run:
        dataset = tokenize(base, job, report)
        rows = make_rows(dataset, job.config, Random(f"{job.config.seed}/{run.steps_before}"), base)
        first = run.steps_done
        measured = measure(base, run.model, rows, first, job, report)

        def take_step(index: int) -> Metrics:
            beat = partial(report.progress, "training", index, len(rows))
            return gradient_step(run, rows[index], measured[index - first], job, beat)

        run.run(len(rows), take_step)
        return run.save(dataset.metrics())


def tokenize(base: BaseModel, job: RlJob, report: Report) -> data.Dataset:
    dataset = data.Dataset()
    path = Path(job.trajectory_groups_path)
    with path.open("rb") as lines:
        num_groups = sum(1 for _ in lines)
    # One line in memory at a time: a job may hold hundreds of megabytes of logprobs.
    with path.open("rb") as lines:
        for index, line in enumerate(report.each("tokenizing", lines, num_groups)):
            data.add_group(
                dataset,
                line,
                base.tokenizer,
                job.config,
                num_positions=base.num_positions,
                num_embeddings=base.num_embeddings,
                model=job.model,
                beat=partial(report.progress, "tokenizing", index, num_groups),
            )
    return dataset


def make_rows(dataset: data.Dataset, config: RlConfig, rng: Random, base: BaseModel) -> list[Row]:
    sequences = [sequence for group in dataset.sequences_by_group for sequence in group]
    if not sequences:
        return []
    data.balance_and_rescale(sequences, config.advantage_balance)
    packed = packing.pack(dataset.sequences_by_group, config.packed_sequence_length, config.gradient_steps, rng)
    return [
        packing.to_row(row, base.device, share_prefixes=base.shares_prefixes, batch_tokens=base.batch_tokens)
        for row in packed
    ]


def measure(
    base: BaseModel, model: PeftModel, rows: list[Row], first: int, job: RlJob, report: Report
) -> list[Measured]:
    """Log-probabilities of other policies for the rows from `first` on. The weights are those that the job starts from,
    also when it continues after a crash: the policy that sampled the rollouts is the same for all rows."""
    todo = list(enumerate(rows))[first:]
    sampled = {"all": range(len(rows)), "sampled": [len(rows) - 1], "none": []}[base.metric_passes]

    def ask(index: int, row: Row) -> Tensor:
        return policy.logprobs(model, row, partial(report.progress, "tokenizing", index, len(rows)), base.ranks)

    # The first row meets that policy in its own step.
    needed = range(len(rows)) if job.config.precalculate_logprobs else sampled
    source = [ask(index, row) if index > 0 and index in needed else None for index, row in todo]
    penalised_by_base = bool(job.config.kl_penalty_coef) and job.reference_dir is None
    # Without that penalty only a metric needs the base model, and one row is sample enough: rows are drawn at random,
    # and the last one meets nearly the policy that is saved.
    wanted = range(len(rows)) if penalised_by_base else [index for index in sampled if index == len(rows) - 1]
    unchanged = changes_nothing(model)
    with model.disable_adapter():
        of_base = [
            (known if unchanged and known is not None else ask(index, row)) if index in wanted else None
            for (index, row), known in zip(todo, source, strict=True)
        ]
    reference: Sequence[Tensor | None] = [None] * len(todo)
    if penalised_by_base:
        reference = of_base
    elif job.config.kl_penalty_coef and job.reference_dir is not None:
        with lent_weights(model, Path(job.checkpoint_dir), Path(job.reference_dir)):
            reference = [ask(index, row) for index, row in todo]
    return [
        Measured(*found, meets_source=index == 0)
        for (index, _), *found in zip(todo, source, of_base, reference, strict=True)
    ]


def gradient_step(run: Training, row: Row, measured: Measured, job: RlJob, beat: Beat) -> Metrics:
    """Batch by batch: the gradients of their shares of the loss add up to those of the row's."""
    config, ranks = job.config, run.base.ranks
    run.optimizer.zero_grad()
    terms = Terms.of(row, measured, config)
    if terms.reference_N is not None:
        # The penalty of each token depends on the mean over the row, so there is a pass for that mean first.
        current_N = policy.logprobs(run.model, row, beat, ranks)
        terms = replace(terms, kl_policy_ref=terms.loss(current_N, config).kl_policy_ref)
    logprobs_N, entropy_N = torch.zeros_like(row.weights_N), torch.zeros_like(row.weights_N)
    for share in ranks.shares(row):
        logprobs_M, entropy_M = policy.predict(run.model, share.batch, run.base.keep(share.num_tokens_max))
        part_of_loss = (len(logprobs_M) + 1e-6) / (len(row.weights_N) + 1e-6)
        batch_loss = terms.part(share.part).loss(logprobs_M, config).loss * part_of_loss
        share.of(batch_loss).backward()
        if share.counts:
            logprobs_N[share.part] = logprobs_M.detach()
            entropy_N[share.part] = entropy_M
        beat()
    ranks.sum([logprobs_N, entropy_N])
    result = terms.loss(logprobs_N, config)
    require_finite(result.loss)
    power = config.num_trajectories_learning_rate_multiplier_power
    learning_rate = config.learning_rate * row.num_trajectories**power
    gradient_norm = run.update(row, learning_rate, GRADIENT_NORM_MAX)
    num_tokens = len(logprobs_N)
    metrics = {
        "loss": result.loss.item(),
        "entropy": (entropy_N * row.weights_N).sum().item() / (num_tokens + 1e-6),
        "grad_norm": gradient_norm,
        "learning_rate": learning_rate,
        "num_trainable_tokens": float(num_tokens),
        "num_trajectories": float(row.num_trajectories),
        "num_trajectories_without_reasoning": float(num_without_reasoning(row.sequences)),
        "on_policy/share_clipped": result.share_clipped.item(),
        "on_policy/ratio_mean": result.ratio_mean.item(),
        **health(
            row,
            logprobs_N,
            logprobs_N if measured.meets_source else measured.source_N,
            measured.base_N,
            job.policy_step,
            run.base.dtype,
        ),
    }
    if config.truncated_importance_sampling and terms.rollout_N is None:
        metrics["on_policy/tokens_not_truncated"] = float(num_tokens)
    if result.kl_policy_ref is not None:
        metrics["kl_policy_ref"] = result.kl_policy_ref.item()
    return metrics


@dataclass(frozen=True)
class Terms:
    """What the loss of a row or of a part of it needs beside the current log-probabilities."""

    old_N: Tensor  # NaN for the current ones
    rollout_N: Tensor | None  # where the old ones are not the rollout's
    reference_N: Tensor | None
    advantages_N: Tensor
    weights_N: Tensor
    sequence_N: Tensor
    kl_policy_ref: Tensor | None = None

    @staticmethod
    def of(row: Row, measured: Measured, config: RlConfig) -> "Terms":
        rollout_N = row.rollout_logprobs_N
        calculated_N = torch.full_like(rollout_N, math.nan) if measured.source_N is None else measured.source_N
        return Terms(
            old_N=calculated_N if config.precalculate_logprobs else rollout_N,
            rollout_N=rollout_N if config.precalculate_logprobs else None,
            reference_N=measured.reference_N,
            advantages_N=row.advantages_N,
            weights_N=row.weights_N,
            sequence_N=row.sequence_N,
        )

    def part(self, tokens: slice) -> "Terms":
        """Of whole sequences, which are numbered from 0 again."""
        return replace(
            self,
            old_N=self.old_N[tokens],
            rollout_N=None if self.rollout_N is None else self.rollout_N[tokens],
            reference_N=None if self.reference_N is None else self.reference_N[tokens],
            advantages_N=self.advantages_N[tokens],
            weights_N=self.weights_N[tokens],
            sequence_N=self.sequence_N[tokens] - self.sequence_N[tokens.start],
        )

    def loss(self, logprobs_N: Tensor, config: RlConfig) -> loss.PolicyLoss:
        return loss.policy_loss(
            logprobs_N,
            self.old_N,
            self.advantages_N,
            self.weights_N,
            self.sequence_N,
            config,
            rollout_logprobs_N=self.rollout_N,
            reference_logprobs_N=self.reference_N,
            kl_policy_ref=self.kl_policy_ref,
        )
