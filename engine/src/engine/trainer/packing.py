"""Sequences to rows, one gradient step each, and rows to padded batches of tensors, which run one after another and
whose gradients add up to the row's.

Axes: B sequence of a batch, T token position, C prefix that sequences share, P position in a prefix, M predicted token
of a batch, N predicted token of the row.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, takewhile
from random import Random
from typing import Any

import torch
from torch import Tensor

from engine.trainer.chat import Sequence, Turn

# Tokens that run at once, padding included: enough for the matrix products, and few enough that memory does not grow
# with the row and that a slow machine is not silent for long. A longer sequence runs alone, and a long shared prefix
# with half as many tokens after it. On a GPU it is the least: see checkpointing.py.
BATCH_TOKENS = 2048
# A row's length is a multiple of it, as in the reference trainer.
ROW_TOKENS = 2048
# What a token sees of a shared prefix is a matrix, which every layer reads: 128 MiB in bfloat16. Without a prefix there
# is none, so long sequences after long prefixes run alone.
SEEN_MAX = 2**26
# A prefix is run separately where that leaves at most this part of the tokens; running it has a cost of its own.
SHARED_PART_MAX = 0.9


@dataclass(frozen=True)
class Prefix:
    """The first tokens of a batch's sequences, where several begin with the same ones."""

    tokens_CP: Tensor
    index_B: Tensor  # which prefix a sequence has
    lengths_B: Tensor  # how long that is


@dataclass(frozen=True)
class Batch:
    """Sequences padded to the same length; with a prefix, what comes after it."""

    tokens_BT: Tensor
    predicts_BT: Tensor  # true where the next token is trained on
    targets_M: Tensor  # those next tokens
    prefix: Prefix | None = None

    @property
    def num_tokens(self) -> int:
        """That run, padding included."""
        return self.tokens_BT.numel() + (self.prefix.tokens_CP.numel() if self.prefix else 0)


@dataclass(frozen=True)
class Row:
    """The sequences of one gradient step and their sampled tokens in the same order: batch by batch, sequence by
    sequence."""

    sequences: list[Sequence]
    batches: list[Batch]
    rollout_logprobs_N: Tensor
    advantages_N: Tensor
    weights_N: Tensor
    sequence_N: Tensor

    @cached_property
    def parts(self) -> list[slice]:
        """The sampled tokens of each batch. A sequence is in one batch as a whole."""
        ends = list(accumulate(len(batch.targets_M) for batch in self.batches))
        return [slice(start, end) for start, end in pairwise([0, *ends])]

    @property
    def num_trajectories(self) -> int:
        return len({sequence.trajectory for sequence in self.sequences})

    @property
    def turns(self) -> list[Turn]:
        return [turn for sequence in self.sequences for turn in sequence.turns]


def pack(
    sequences_by_group: list[list[Sequence]], length: int | None, gradient_steps: int | None, rng: Random
) -> list[list[Sequence]]:
    """The rows of a job, filled in a random order of groups and inside each group: as many as `gradient_steps` says,
    or else as few as hold at most `length` tokens each; by default the longest sequence rounded up.

    Rows are filled alike: every row is a full step of the optimizer, and a last row of a few left-over sequences would
    be a step into a random direction. A sequence longer than a row gets its own.
    """
    groups = rng.sample(sequences_by_group, len(sequences_by_group))
    shuffled = [sequence for group in groups for sequence in rng.sample(group, len(group))]
    if gradient_steps is not None:
        return split_into_rows(gradient_steps, shuffled)
    if length is None:
        length = ROW_TOKENS * math.ceil(max(map(len, shuffled)) / ROW_TOKENS)
    num_tokens = sum(map(len, shuffled))
    fair_share = num_tokens / math.ceil(num_tokens / length)
    rows: list[list[Sequence]] = [[]]
    used = 0
    for sequence in shuffled:
        if used >= fair_share or (used and used + len(sequence) > length):
            rows.append([])
            used = 0
        rows[-1].append(sequence)
        used += len(sequence)
    return rows


def split_into_rows(num_rows: int, sequences: list[Sequence]) -> list[list[Sequence]]:
    """Exactly that many rows of about as many tokens, or one for each sequence where there are fewer."""
    num_rows = min(num_rows, len(sequences))
    fair_share = sum(map(len, sequences)) / num_rows
    rows: list[list[Sequence]] = [[]]
    used = 0
    for index, sequence in enumerate(sequences):
        must_end = len(sequences) - index == num_rows - len(rows)
        may_end = len(rows) < num_rows and used + len(sequence) / 2 > fair_share * len(rows)
        if rows[-1] and (must_end or may_end):
            rows.append([])
        rows[-1].append(sequence)
        used += len(sequence)
    return rows


def to_row(
    sequences: list[Sequence], device: torch.device, *, share_prefixes: bool, batch_tokens: int = BATCH_TOKENS
) -> Row:
    """Batches hold sequences of like length, so that one long sequence does not pad the others."""
    found = clusters(sequences) if share_prefixes else []
    pieces = [without_outliers(piece) for cluster in found for piece in split(cluster, batch_tokens)]
    sharing = [piece for piece in pieces if piece.saves]
    in_cluster = {id(sequence) for cluster in sharing for sequence in cluster.sequences}
    alone = [Cluster(0, [sequence]) for sequence in sequences if id(sequence) not in in_cluster]
    filled = [*fill(alone, batch_tokens), *fill(sharing, batch_tokens)]
    ordered = [sequence for batch in filled for cluster in batch for sequence in cluster.sequences]
    counts_B = torch.tensor([sequence.num_sampled for sequence in ordered], device=device)

    def per_token(values: list[float]) -> Tensor:
        """One value per sequence to one per sampled token."""
        return torch.tensor(values, device=device).repeat_interleave(counts_B)

    return Row(
        sequences=ordered,
        batches=[to_batch(batch, device) for batch in filled],
        rollout_logprobs_N=torch.tensor(
            [value for sequence in ordered for value in chosen(sequence.logprobs, sequence)],
            dtype=torch.float32,
            device=device,
        ),
        advantages_N=per_token([sequence.advantage for sequence in ordered]),
        weights_N=per_token([sequence.weight for sequence in ordered]),
        sequence_N=torch.arange(len(ordered), device=device).repeat_interleave(counts_B),
    )


def chosen(values: list[Any], sequence: Sequence) -> list[Any]:
    """Those of the sampled tokens."""
    return [value for value, sampled in zip(values, sequence.sampled, strict=True) if sampled]


@dataclass(frozen=True)
class Cluster:
    """Sequences that have their first `shared` tokens in common, none of them sampled or predicting a sampled one."""

    shared: int
    sequences: list[Sequence]

    @property
    def longest(self) -> int:
        """What remains of the longest sequence."""
        return max(map(len, self.sequences)) - self.shared

    @property
    def saves(self) -> bool:
        """Padding counts."""
        num_tokens = self.shared + len(self.sequences) * self.longest
        return seen_size([self]) <= SEEN_MAX and num_tokens <= SHARED_PART_MAX * sum(map(len, self.sequences))


def clusters(sequences: list[Sequence]) -> list[Cluster]:
    """In the order of their tokens, sequences of a group that begin alike are neighbours. One joins those before it
    while that saves a good part of it."""
    found: list[Cluster] = []
    for sequence in sorted(sequences, key=lambda sequence: (sequence.trajectory[0], sequence.tokens)):
        unpredicting = max(0, sequence.sampled.index(True) - 1)
        if found and found[-1].sequences[0].trajectory[0] == sequence.trajectory[0]:
            last = found[-1]
            alike = zip(last.sequences[0].tokens[: last.shared], sequence.tokens[:unpredicting], strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], alike))
            saved = shared * len(last.sequences) - last.shared * (len(last.sequences) - 1)
            if saved > (1 - SHARED_PART_MAX) * len(sequence):
                found[-1] = Cluster(shared, [*last.sequences, sequence])
                continue
        found.append(Cluster(unpredicting, [sequence]))
    return found


def split(cluster: Cluster, batch_tokens: int) -> list[Cluster]:
    """Pieces of like length that run at once, at most `batch_tokens` with prefix and padding, or a single sequence.

    Each piece runs the prefix again. What comes after a prefix of more than half of `batch_tokens` may have that half
    all the same, or a long prefix would run with every sequence, or nearly so.
    """
    most = max(batch_tokens, cluster.shared + batch_tokens // 2)
    pieces: list[Cluster] = []
    for sequence in sorted(cluster.sequences, key=len):
        longer = Cluster(cluster.shared, [*pieces[-1].sequences, sequence]) if pieces else None
        if longer and padded_size([longer]) <= most and seen_size([longer]) <= SEEN_MAX:
            pieces[-1] = longer
        else:
            pieces.append(Cluster(cluster.shared, [sequence]))
    return pieces


def without_outliers(cluster: Cluster) -> Cluster:
    """One very long sequence pads all others: the longest leave until sharing saves something."""
    remaining = sorted(cluster.sequences, key=len)
    while len(remaining) > 1 and not Cluster(cluster.shared, remaining).saves:
        remaining.pop()
    return Cluster(cluster.shared, remaining)


def fill(clusters: list[Cluster], batch_tokens: int) -> list[list[Cluster]]:
    """Clusters of like length together, at most `batch_tokens` with padding, or one alone that has more."""
    batches: list[list[Cluster]] = []
    for cluster in sorted(clusters, key=lambda cluster: cluster.longest):
        longer = [*batches[-1], cluster] if batches else []
        if longer and padded_size(longer) <= batch_tokens and seen_size(longer) <= SEEN_MAX:
            batches[-1].append(cluster)
        else:
            batches.append([cluster])
    return batches


def padded_size(clusters: list[Cluster]) -> int:
    prefixes = len(clusters) * max(cluster.shared for cluster in clusters)
    return prefixes + sum(len(c.sequences) for c in clusters) * max(cluster.longest for cluster in clusters)


def seen_size(clusters: list[Cluster]) -> int:
    """Of the matrix that says which tokens a token sees; sequences without a shared prefix need none."""
    prefix, longest = max(cluster.shared for cluster in clusters), max(cluster.longest for cluster in clusters)
    return sum(len(c.sequences) for c in clusters) * longest * (prefix + longest) if prefix else 0


def to_batch(clusters: list[Cluster], device: torch.device) -> Batch:
    rests = [(sequence, cluster.shared) for cluster in clusters for sequence in cluster.sequences]
    tokens_BT = padded([sequence.tokens[start:] for sequence, start in rests], device)
    # A prefix ends before the first token that predicts a sampled one, so nothing is predicted across its end.
    predicts_BT = padded([[*sequence.sampled[start + 1 :], False] for sequence, start in rests], device)
    targets = [token for sequence, _ in rests for token in chosen(sequence.tokens, sequence)]
    sizes = [len(cluster.sequences) for cluster in clusters]
    prefix = None
    if any(cluster.shared for cluster in clusters):
        prefix = Prefix(
            tokens_CP=padded([cluster.sequences[0].tokens[: cluster.shared] for cluster in clusters], device),
            index_B=torch.arange(len(clusters), device=device).repeat_interleave(torch.tensor(sizes, device=device)),
            lengths_B=torch.tensor([start for _, start in rests], device=device),
        )
    return Batch(tokens_BT, predicts_BT, torch.tensor(targets, device=device), prefix)


def padded(lists: list[Any], device: torch.device) -> Tensor:
    """Padding comes after the text, where causal attention cannot see it: any token id will do."""
    longest = max(map(len, lists))
    return torch.tensor([[*values, *[type(values[0])()] * (longest - len(values))] for values in lists], device=device)
