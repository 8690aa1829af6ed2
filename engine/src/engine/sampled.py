"""Histories whose choices carry the token ids of their prompts, to sequences of exactly these ids.

The inference gateway notes on each choice what the policy was prompted with (`prompt_token_ids`) and what it sampled.
Nothing is rendered or tokenised here: a chat template may print an earlier turn otherwise in a later prompt, or text
that was sampled as other tokens, and then log-probabilities would be asked of a context that never was.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, cast

from transformers import PreTrainedTokenizerBase

from engine.chat import Sequence, Turn, append, is_choice, is_trained, logprob_items, sampled_ids, turn_of
from engine.errors import at

Json = dict[str, Any]


@dataclass(frozen=True)
class SampledTurn:
    """One trained turn. `logprobs` are the rollout's, one for each of `ids`, NaN where not known."""

    prompt: list[int]
    ids: list[int]
    logprobs: list[float]
    turn: Turn
    index: int  # among the choices of its reply


def sampled_turns(
    elements: list[Json], tokenizer: PreTrainedTokenizerBase, step: int | None, without_logprobs: bool
) -> list[SampledTurn] | None:
    """The trained turns of a history in order; None where one of them does not carry its prompt and its ids."""
    turns: list[SampledTurn] = []
    for number, element in enumerate(elements):
        if not is_trained(element, number, without_logprobs):
            continue
        with at(f"[{number}]"):
            prompt = prompt_ids(element, tokenizer)
            ids, logprobs = sampled_ids(element, tokenizer) if prompt else ([], [])
            if not prompt or not ids:
                return None
            turn = replace(turn_of(element, len(ids), step), rebuilt_context=False)
            turns.append(SampledTurn(prompt, ids, logprobs, turn, index_of(element)))
    return turns


def sequences_of(histories: Iterable[list[SampledTurn]]) -> list[Sequence]:
    """The fewest sequences in which each turn follows exactly its prompt.

    A turn goes on with the longest sequence that its prompt begins with; where there is none, as after a template that
    strips earlier reasoning, it begins a sequence of its own. Ids of earlier turns inside its prompt are context there:
    each sampled token is trained on once. Histories may repeat turns of each other; a repeated turn is left out.
    """
    sequences: list[Sequence] = []
    earlier: set[tuple[object, ...]] = set()
    for history in histories:
        own = {key_of(sampled): sampled for sampled in history}
        for sampled in history:
            if key_of(sampled) not in earlier:
                add_turn(sequences, sampled)
        earlier.update(own)
    return [sequence for sequence in sequences if any(sequence.sampled)]


def add_turn(sequences: list[Sequence], sampled: SampledTurn) -> None:
    begun = [sequence for sequence in sequences if sampled.prompt[: len(sequence)] == sequence.tokens]
    if begun:
        sequence = max(begun, key=len)
        append(sequence, sampled.prompt[len(sequence) :], None)
    else:
        sequence = Sequence(list(sampled.prompt), [False] * len(sampled.prompt), [float("nan")] * len(sampled.prompt))
        sequences.append(sequence)
    append(sequence, sampled.ids, sampled.logprobs)
    sequence.turns.append(sampled.turn)


def key_of(sampled: SampledTurn) -> tuple[object, ...]:
    """Tells a turn from others; the choices of one reply (`n` > 1) may have sampled the same ids."""
    return tuple(sampled.prompt), tuple(sampled.ids), tuple(map(repr, sampled.logprobs)), sampled.index


def prompt_ids(element: Json, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """What the policy was prompted with, empty where not known. Clients that put streamed replies together keep no
    member of a choice that they do not know, only those of its first token."""
    if not is_choice(element):
        return []
    given: Any = element.get("prompt_token_ids")
    if given is None and (items := logprob_items(element)) and isinstance(items[0], dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = items[0].get("prompt_token_ids")
    if given is None:
        return []
    if not isinstance(given, list) or any(type(token) is not int for token in cast(list[object], given)):
        raise ValueError("prompt_token_ids is no list of integers")
    ids = cast(list[int], given)
    if unknown := [token for token in ids if not 0 <= token < len(tokenizer)]:
        raise ValueError(f"prompt token id {unknown[0]} is not in the vocabulary of {len(tokenizer)} tokens")
    return ids


def index_of(element: Json) -> int:
    index = element.get("index")
    return index if type(index) is int else 0
