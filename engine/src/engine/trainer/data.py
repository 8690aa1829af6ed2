"""Converts trajectory groups to training data."""

import math
from dataclasses import dataclass, field
from statistics import fmean, pstdev
from typing import Any

from transformers import PreTrainedTokenizerBase

from engine.beat import Beat, no_beat
from engine.contract import RlConfig
from engine.trainer.answered_by import is_of_another_model, model_of
from engine.trainer.chat import Sequence
from engine.trainer.errors import at
from engine.trainer.json_lines import parse_line
from engine.trainer.sampled import sequences_of
from engine.trainer.turns import SampledTurn, trained_turns

Json = dict[str, Any]

# As the server has it. Means and deviations of a job's rewards stay far below what a float can hold, 1.8e308.
REWARD_MAX = 1e100


@dataclass
class Dataset:
    """The training data of a job, and statistics of its input."""

    sequences_by_group: list[list[Sequence]] = field(default_factory=list[list[Sequence]])
    group_rewards: list[list[float]] = field(default_factory=list[list[float]])
    num_dropped_trajectories: int = 0  # with an advantage, but without anything to train on
    num_sequences_too_long: int = 0
    num_sequences_with_unknown_tokens: int = 0

    def metrics(self) -> dict[str, float]:
        """`reward_std_dev` is the mean over the groups of the deviation inside each."""
        groups = [rewards for rewards in self.group_rewards if rewards]
        return {
            "reward": fmean(reward for rewards in groups for reward in rewards) if groups else 0.0,
            "reward_std_dev": fmean(pstdev(rewards) for rewards in groups) if groups else 0.0,
            "num_groups_submitted": float(len(self.group_rewards)),
            "num_groups_trainable": float(len(self.sequences_by_group)),
            "num_dropped_trajectories": float(self.num_dropped_trajectories),
            "num_sequences_too_long": float(self.num_sequences_too_long),
            "num_sequences_with_unknown_tokens": float(self.num_sequences_with_unknown_tokens),
        }


def group_advantages(rewards: list[float], scale: bool) -> list[float]:
    """r - mean, divided by the group's deviation where `scale`. All zero where the rewards differ by rounding only:
    the mean of three times 0.1 is not 0.1, and a difference of 1e-17 would later be rescaled to full strength."""
    mean = fmean(rewards)
    differences = [reward - mean for reward in rewards]
    if max(map(abs, differences)) <= 1e-9 * max(1.0, abs(mean)):
        return [0.0] * len(rewards)
    deviation = pstdev(rewards) + 1e-6 if scale else 1.0
    return [difference / deviation for difference in differences]


def balance_and_rescale(sequences: list[Sequence], balance: float) -> None:
    """Over all sampled tokens of the job: mean weight 1, then mean |advantage| * weight 1.

    `balance` above 0 turns negative advantages down (to none at 1), below 0 positive ones.
    """
    num_tokens = sum(sequence.num_sampled for sequence in sequences)
    mean_weight = sum(sequence.weight * sequence.num_sampled for sequence in sequences) / num_tokens
    for sequence in sequences:
        sequence.weight /= mean_weight
        if sequence.advantage < 0:
            sequence.advantage *= min(1.0, 1 - balance)
        else:
            sequence.advantage *= min(1.0, 1 + balance)
    total = sum(abs(sequence.advantage) * sequence.weight * sequence.num_sampled for sequence in sequences)
    for sequence in sequences:
        # The total is 0 when the balance leaves nothing of what remains after too long sequences are gone.
        sequence.advantage *= num_tokens / total if total else 0.0


def add_group(
    dataset: Dataset,
    line: bytes,
    tokenizer: PreTrainedTokenizerBase,
    config: RlConfig,
    *,
    num_positions: int,
    num_embeddings: int,
    model: str | None = None,
    beat: Beat = no_beat,
) -> None:
    """Tokenise the trajectories that carry an advantage; with a `model`, ENTITY/PROJECT/NAME, its own answers alone.
    Sequences of more than `num_positions` tokens, or with ids of which the model has no embedding, are left out. With a
    beat after each turn."""
    number = len(dataset.group_rewards)
    with at(f"trajectory_groups[{number}]"):
        group: Json = parse_line(line)
        trajectories: list[Json] = group["trajectories"]
        rewards = [reward_of(trajectory, index) for index, trajectory in enumerate(trajectories)]
        dataset.group_rewards.append(rewards)
        advantages = group_advantages(rewards, config.scale_rewards and config.normalize_advantages) if rewards else []
        group_sequences: list[Sequence] = []
        for index, (trajectory, advantage) in enumerate(zip(trajectories, advantages, strict=True)):
            if advantage == 0:
                continue
            with at(f"trajectories[{index}]"):
                sequences = tokenize_trajectory(trajectory, tokenizer, config, model=model, beat=beat)
            # Every trajectory counts the same, however long: each of its tokens weighs 1 / (their number).
            num_sampled = sum(sequence.num_sampled for sequence in sequences)
            for sequence in sequences:
                sequence.trajectory = (number, index)
                sequence.advantage = advantage
                sequence.weight = 1 / (num_sampled + 1e-6)
            known = [sequence for sequence in sequences if sequence.has_embeddings(num_embeddings)]
            kept = [sequence for sequence in known if len(sequence) <= num_positions]
            dataset.num_sequences_with_unknown_tokens += len(sequences) - len(known)
            dataset.num_sequences_too_long += len(known) - len(kept)
            dataset.num_dropped_trajectories += not kept
            group_sequences += kept
    if group_sequences:
        dataset.sequences_by_group.append(group_sequences)


def reward_of(trajectory: Json, index: int) -> float:
    with at(f"trajectories[{index}]"):
        reward = float(trajectory["reward"])
        if not math.isfinite(reward):
            raise ValueError(f"the reward {reward} is not a finite number")
        if abs(reward) > REWARD_MAX:
            raise ValueError(f"the reward {reward} is not between -{REWARD_MAX} and {REWARD_MAX}")
        return reward


def tokenize_trajectory(
    trajectory: Json,
    tokenizer: PreTrainedTokenizerBase,
    config: RlConfig,
    *,
    model: str | None = None,
    beat: Beat = no_beat,
) -> list[Sequence]:
    """The sequences of all its histories together: they may share turns."""
    version = trajectory.get("initial_policy_version")
    step = version if type(version) is int else None
    histories: list[list[SampledTurn]] = []
    for place, history in histories_of(trajectory):
        elements, tools = history["messages_and_choices"], history.get("tools")
        with at(f"{place}messages_and_choices"):
            histories.append(
                trained_turns(
                    elements,
                    tools,
                    tokenizer,
                    step,
                    model=model,
                    without_logprobs=config.allow_training_without_logprobs,
                    require_sampled_context=config.require_sampled_context,
                    beat=beat,
                )
            )
    if model is not None and not any(histories):
        require_own_answers(trajectory, model)
    return sequences_of(histories, beat)


def require_own_answers(trajectory: Json, model: str) -> None:
    """Tells a rollout that asked other models alone, which is a mistake, from one that has nothing to train on."""
    elements: list[Json] = [
        element for _, history in histories_of(trajectory) for element in history["messages_and_choices"]
    ]
    others = {model_of(element) or "" for element in elements if is_of_another_model(element, model)}
    if others:
        named = ", ".join(repr(name) for name in sorted(others))
        raise ValueError(
            f"its requests asked {named:.300}, and none asked the model that is trained, wandb-artifact:///{model}: "
            "only answers of that model are trained on"
        )


def histories_of(trajectory: Json) -> list[tuple[str, Json]]:
    """With the position of each inside the trajectory."""
    more: list[Json] = trajectory.get("additional_histories") or []
    return [("", trajectory), *((f"additional_histories[{index}].", history) for index, history in enumerate(more))]
