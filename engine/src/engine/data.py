"""Trajectory groups to rows of tensors.

A group is several attempts (trajectories) at one task, each with a reward. Its conversations become `Sequence`s of
token ids in which the ids that the policy sampled are marked; sequences are weighed, packed into rows, and each row
becomes one gradient step.

Axes: B sequence in a batch, T token position, N sampled token of the row.
"""

import json
import math
import re
from dataclasses import dataclass, field
from random import Random
from statistics import fmean, pstdev
from typing import Any, cast

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from engine.contract import RlConfig

Json = dict[str, Any]


@dataclass
class Sequence:
    """One tokenised conversation. `logprobs` are the rollout's, NaN where not sampled or not known."""

    tokens: list[int]
    sampled: list[bool]
    logprobs: list[float]
    trajectory: tuple[int, int] = (0, 0)  # its group, and its place there
    advantage: float = 0.0
    weight: float = 0.0

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def num_sampled(self) -> int:
        return sum(self.sampled)


@dataclass
class Dataset:
    """What a job trains on, and what it was given."""

    sequences_by_group: list[list[Sequence]] = field(default_factory=list[list[Sequence]])
    group_rewards: list[list[float]] = field(default_factory=list[list[float]])
    num_sequences_too_long: int = 0

    def metrics(self) -> dict[str, float]:
        """`reward_std_dev` is the mean over the groups of the deviation inside each."""
        groups = [rewards for rewards in self.group_rewards if rewards]
        return {
            "reward": fmean(reward for rewards in groups for reward in rewards) if groups else 0.0,
            "reward_std_dev": fmean(pstdev(rewards) for rewards in groups) if groups else 0.0,
            "num_groups_submitted": float(len(self.group_rewards)),
            "num_groups_trainable": float(len(self.sequences_by_group)),
            "num_sequences_too_long": float(self.num_sequences_too_long),
        }


# ---- from rewards to advantages ----


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


# ---- from JSON lines to sequences ----


def add_group(dataset: Dataset, line: bytes, tokenizer: PreTrainedTokenizerBase, config: RlConfig, limit: int) -> None:
    """Tokenise the trajectories that carry an advantage. Sequences of more than `limit` tokens are left out."""
    number = len(dataset.group_rewards) + 1
    try:
        group: Json = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} of the trajectory groups is not JSON: {error}") from error
    trajectories: list[Json] = group["trajectories"]
    rewards = [float(trajectory["reward"]) for trajectory in trajectories]
    if not all(map(math.isfinite, rewards)):
        raise ValueError(f"a reward is not a finite number: {rewards}")
    dataset.group_rewards.append(rewards)
    if not rewards:
        return
    group_sequences: list[Sequence] = []
    advantages = group_advantages(rewards, config.scale_rewards)
    for index, (trajectory, advantage) in enumerate(zip(trajectories, advantages, strict=True)):
        if advantage == 0:
            continue
        histories: list[Json] = [trajectory, *(trajectory.get("additional_histories") or [])]
        tokenized = [
            tokenize(history["messages_and_choices"], history.get("tools"), tokenizer) for history in histories
        ]
        sequences = [sequence for sequence in tokenized if sequence is not None]
        # Every trajectory counts the same, however long: each of its tokens weighs 1 / (their number).
        num_sampled = sum(sequence.num_sampled for sequence in sequences)
        for sequence in sequences:
            sequence.trajectory = (number, index)
            sequence.advantage = advantage
            sequence.weight = 1 / (num_sampled + 1e-6)
        kept = [sequence for sequence in sequences if len(sequence) <= limit]
        dataset.num_sequences_too_long += len(sequences) - len(kept)
        group_sequences += kept
    if group_sequences:
        dataset.sequences_by_group.append(group_sequences)


def is_choice(element: Json) -> bool:
    return "finish_reason" in element and "message" in element


def logprob_items(element: Json) -> list[Json]:
    """The sampled tokens of a choice; empty for a plain message and for a choice without logprobs."""
    logprobs: Json | None = element.get("logprobs") if is_choice(element) else None
    return (logprobs.get("content") or []) if logprobs else []


def tokenize(elements: list[Json], tools: list[Json] | None, tokenizer: PreTrainedTokenizerBase) -> Sequence | None:
    """A conversation up to its last sampled turn; None when no turn carries sampled tokens.

    The chat template prints a marker in place of each sampled turn, its text is cut there, and the sampled ids go
    between the pieces: the policy is trained on the very ids it produced, which re-tokenising text cannot promise.
    """
    turns = [index for index, element in enumerate(elements) if logprob_items(element)]
    if not turns:
        return None
    markers = {index: f"\ue000turn {index}\ue001" for index in turns}
    template: str = cast(Any, tokenizer).chat_template
    messages = [as_message(element, markers.get(index)) for index, element in enumerate(elements[: turns[-1] + 1])]
    if re.search(r"arguments\s*\|\s*items", template):
        messages = [with_parsed_arguments(message) for message in messages]
    # Rollouts are sampled without a thinking preamble, and what was thought in earlier turns stays in the context.
    options = {"enable_thinking": False, "preserve_thinking": True}
    options = {name: value for name, value in options.items() if name in template}
    text: str = cast(Any, tokenizer).apply_chat_template(messages, tools=tools, tokenize=False, **options)
    sequence = Sequence([], [], [])
    end_of_turn: int | None = None
    for index in turns:
        before, marker, text = text.partition(markers[index])
        if not marker:
            raise ValueError(f"the chat template does not print the content of message {index} as it is")
        context = encode(tokenizer, before)
        items = logprob_items(elements[index])
        ids = sampled_ids(elements[index], items, tokenizer)
        # The sampled end of turn stands for the template's own.
        start = 1 if context and context[0] == end_of_turn else 0
        # "<think>", two newlines, "</think>", two newlines: an empty preamble that a thinking turn did not have.
        end = -4 if context[-4:-3] == ids[:1] and tokenizer.decode(ids[:1]) == "<think>" else None
        append(sequence, context[start:end], None)
        append(sequence, ids, [known(item.get("logprob")) for item in items])
        end_of_turn = ids[-1]
    return sequence


def as_message(element: Json, marker: str | None) -> Json:
    """A plain message as given; a choice as an assistant message. With a marker the tool calls go as well: the
    sampled tokens already hold them."""
    if not is_choice(element):
        return element
    if marker is not None:
        return {"role": "assistant", "content": marker}
    message: Json = element["message"]
    plain: Json = {"role": "assistant", "content": message.get("content") or ""}
    return {**plain, "tool_calls": message["tool_calls"]} if message.get("tool_calls") else plain


def with_parsed_arguments(message: Json) -> Json:
    """For templates that walk over the arguments of a call, which travel as JSON text."""
    calls: list[Json] = message.get("tool_calls") or []
    if not calls:
        return message
    functions = [{**call["function"], "arguments": parsed(call["function"]["arguments"])} for call in calls]
    return {**message, "tool_calls": [{**call, "function": f} for call, f in zip(calls, functions, strict=True)]}


def parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def known(logprob: float | None) -> float:
    """NaN for what is no log-probability."""
    return logprob if logprob is not None and math.isfinite(logprob) else math.nan


def sampled_ids(choice: Json, items: list[Json], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """`token_id:N` in the logprobs, else the choice's `token_ids`, else each token's text looked up."""
    texts = [str(item["token"]) for item in items]
    given: list[int] = choice.get("token_ids") or []
    if all(text.startswith("token_id:") for text in texts):
        ids = [int(text.removeprefix("token_id:")) for text in texts]
    elif len(given) == len(texts):
        ids = given
    else:
        ids = [look_up(text, tokenizer) for text in texts]
    if unknown := [token for token in ids if not 0 <= token < len(tokenizer)]:
        raise ValueError(f"sampled token id {unknown[0]} is not in the vocabulary of {len(tokenizer)} tokens")
    return ids


def look_up(text: str, tokenizer: PreTrainedTokenizerBase) -> int:
    """The one token that prints `text`; end of text where there is none (an empty text, half a character)."""
    ids = encode(tokenizer, text)
    return ids[0] if len(ids) == 1 else cast(Any, tokenizer).eos_token_id


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def append(sequence: Sequence, tokens: list[int], logprobs: list[float] | None) -> None:
    """Sampled tokens come with logprobs, context without."""
    sequence.tokens += tokens
    sequence.sampled += [logprobs is not None] * len(tokens)
    sequence.logprobs += [math.nan] * len(tokens) if logprobs is None else logprobs


# ---- from sequences to rows ----


@dataclass(frozen=True)
class Row:
    """The sequences of one gradient step, as padded batches of sequences of like length, and their sampled tokens
    in the same order: batch by batch, sequence by sequence."""

    batches: list[tuple[Tensor, Tensor]]  # (tokens_BT, predicts_BT): true where the next token was sampled
    tokens_N: Tensor
    rollout_logprobs_N: Tensor
    advantages_N: Tensor
    weights_N: Tensor
    sequence_N: Tensor
    num_trajectories: int


def pack(sequences_by_group: list[list[Sequence]], length: int, rng: Random) -> list[list[Sequence]]:
    """Rows of at most `length` tokens, filled in a random order of groups and inside each group.

    Rows are filled alike: every row is a full step of the optimizer, and a last row of a few left-over sequences would
    be a step into a random direction. A sequence longer than a row gets its own.
    """
    groups = rng.sample(sequences_by_group, len(sequences_by_group))
    shuffled = [sequence for group in groups for sequence in rng.sample(group, len(group))]
    num_tokens = sum(map(len, shuffled))
    fair_share = num_tokens / math.ceil(num_tokens / length)
    rows: list[list[Sequence]] = [[]]
    for sequence in shuffled:
        used = sum(map(len, rows[-1]))
        if used >= fair_share or (used and used + len(sequence) > length):
            rows.append([])
        rows[-1].append(sequence)
    return rows


def to_row(sequences: list[Sequence], length: int, device: torch.device) -> Row:
    """Batches hold at most `length` tokens with padding, so a row with one long sequence does not pad the others."""
    ordered = sorted(sequences, key=len)
    batches: list[list[Sequence]] = [[]]
    for sequence in ordered:
        if batches[-1] and (len(batches[-1]) + 1) * len(sequence) > length:
            batches.append([])
        batches[-1].append(sequence)

    def per_token(values: list[float]) -> Tensor:
        """One value per sequence to one per sampled token."""
        return torch.tensor(values, device=device).repeat_interleave(counts_G)

    def sampled(name: str) -> list[Any]:
        return [v for s in ordered for v, chosen in zip(getattr(s, name), s.sampled, strict=True) if chosen]

    counts_G = torch.tensor([sequence.num_sampled for sequence in ordered], device=device)
    return Row(
        batches=[padded(batch, device) for batch in batches],
        tokens_N=torch.tensor(sampled("tokens"), device=device),
        rollout_logprobs_N=torch.tensor(sampled("logprobs"), dtype=torch.float32, device=device),
        advantages_N=per_token([sequence.advantage for sequence in ordered]),
        weights_N=per_token([sequence.weight for sequence in ordered]),
        sequence_N=torch.arange(len(ordered), device=device).repeat_interleave(counts_G),
        num_trajectories=len({sequence.trajectory for sequence in ordered}),
    )


def padded(batch: list[Sequence], device: torch.device) -> tuple[Tensor, Tensor]:
    """Padding comes after the text, where causal attention cannot see it: any token id will do."""
    longest = max(map(len, batch))
    tokens_BT = torch.tensor([s.tokens + [0] * (longest - len(s)) for s in batch], device=device)
    sampled_BT = torch.tensor([s.sampled + [False] * (longest - len(s)) for s in batch], device=device)
    return tokens_BT, sampled_BT.roll(-1, dims=1)
