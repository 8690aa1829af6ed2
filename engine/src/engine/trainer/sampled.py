"""Trained turns to the sequences that they are trained in."""

from collections.abc import Iterable

from engine.beat import Beat, no_beat
from engine.trainer.chat import Sequence, append
from engine.trainer.turns import SampledTurn


def sequences_of(histories: Iterable[list[SampledTurn]], beat: Beat = no_beat) -> list[Sequence]:
    """The fewest sequences in which each turn follows exactly its prompt.

    A turn continues the longest sequence that its prompt begins with; where there is none, as after a template that
    strips earlier reasoning, it begins a sequence of its own. Ids of earlier turns inside its prompt are context
    there: each sampled token is trained on once. Histories may repeat turns of each other; a repeated turn is left
    out. With a beat after each turn, which is compared with all sequences before it.
    """
    sequences: list[Sequence] = []
    earlier: set[tuple[object, ...]] = set()
    for history in histories:
        keys = [key_of(sampled) for sampled in history]
        for key, sampled in zip(keys, history, strict=True):
            if key not in earlier:
                add_turn(sequences, sampled)
            beat()
        earlier.update(keys)
    return [sequence for sequence in sequences if any(sequence.sampled)]


def add_turn(sequences: list[Sequence], sampled: SampledTurn) -> None:
    begun = [sequence for sequence in sequences if begins_with(sampled.prompt, sequence.tokens)]
    if begun:
        sequence = max(begun, key=len)
        append(sequence, sampled.prompt[len(sequence) :], None)
    else:
        sequence = Sequence(list(sampled.prompt), [False] * len(sampled.prompt), [float("nan")] * len(sampled.prompt))
        sequences.append(sequence)
    if sequence.tokens:
        append(sequence, sampled.ids, sampled.logprobs)
    else:
        # Nothing comes before the first token of all, so nothing predicts it.
        append(sequence, sampled.ids[:1], None)
        append(sequence, sampled.ids[1:], sampled.logprobs[1:])
    sequence.turns.append(sampled.turn)


def begins_with(prompt: list[int], tokens: list[int]) -> bool:
    """The last token is compared first: prompts of one conversation have long beginnings in common, and to copy and
    compare those for each two of 2,000 turns takes a minute."""
    length = len(tokens)
    return prompt[length - 1 : length] == tokens[-1:] and prompt[:length] == tokens


def key_of(sampled: SampledTurn) -> tuple[object, ...]:
    """Tells a turn from others; the choices of one reply (`n` > 1) may have sampled the same ids."""
    return tuple(sampled.prompt), tuple(sampled.ids), tuple(map(repr, sampled.logprobs)), sampled.index
