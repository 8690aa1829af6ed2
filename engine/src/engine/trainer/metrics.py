"""Metrics of gradient steps, and their aggregation for the job."""

import math
from array import array
from statistics import fmean

import torch
from torch import Tensor

Metrics = dict[str, float]

# Means over tokens, and the metric that says over how many. Other means are over the steps.
MEAN_OVER = {
    "on_policy/logprob_gap_mean": "on_policy/tokens_with_logprobs",
    "on_policy/versions_behind_mean": "on_policy/tokens_with_version",
    "on_policy/share_clipped": "num_trainable_tokens",
    "on_policy/share_with_rebuilt_context": "num_trainable_tokens",
    "on_policy/ratio_mean": "num_trainable_tokens",
    "on_policy/kl_to_base": "num_trainable_tokens",
}


def finite(metrics: Metrics) -> Metrics:
    """JSON has no other numbers, so those are left out."""
    return {name: value for name, value in metrics.items() if math.isfinite(value)}


class Columns:
    """The metrics of all steps so far, by name. To copy and write those of 50,000 steps takes some milliseconds; as a
    list of dictionaries it takes seconds.

    Axes: S step."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}
        self._num_steps = 0

    def __len__(self) -> int:
        return self._num_steps

    def append_from(self, steps: list[Metrics]) -> None:
        """Takes those that it does not have yet."""
        for step in steps[self._num_steps :]:
            for name in step:
                if name not in self._columns:
                    self._columns[name] = array("d", [math.nan]) * self._num_steps
            for name, column in self._columns.items():
                column.append(step.get(name, math.nan))
            self._num_steps += 1

    def copied(self) -> dict[str, Tensor]:
        """Each of shape S, NaN where a step lacks the metric: those of steps are finite."""
        return {name: torch.frombuffer(column, dtype=torch.float64).clone() for name, column in self._columns.items()}


def steps_of(num_steps: int, columns: dict[str, Tensor]) -> list[Metrics]:
    """Of `Columns.copied`."""
    values: dict[str, list[float]] = {name: column_S.tolist() for name, column_S in columns.items()}
    return [finite({name: column[step] for name, column in values.items()}) for step in range(num_steps)]


def of_job(steps: list[Metrics]) -> Metrics:
    """A step that lacks a metric does not count for it."""
    nothing = {"num_trainable_tokens": 0.0, "num_trajectories": 0.0}
    names = dict.fromkeys(name for step in steps for name in step)
    combined = {name: combine(name, [step for step in steps if name in step]) for name in names}
    return {**nothing, **combined, "num_gradient_steps": float(len(steps))}


def combine(name: str, steps: list[Metrics]) -> float:
    values = [step[name] for step in steps]
    if name.endswith("_max"):
        return max(values)
    if name.startswith(("num_", "on_policy/tokens_")):
        return math.fsum(values)
    weights = [step[MEAN_OVER[name]] for step in steps] if name in MEAN_OVER else None
    return fmean(values, weights)
