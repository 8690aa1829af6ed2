"""Conversations: lists of messages and choices, and what the choices say about their tokens.

A choice is what a chat completion returned: it has `finish_reason` and `message`, and where the policy sampled it also
the ids of its tokens.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from transformers import PreTrainedTokenizerBase

from engine.trainer.errors import InputProblem, at

Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """The source of the tokens of one trained turn."""

    num_tokens: int
    step: int | None = None  # the step of the policy that sampled it, where known
    biased_by: tuple[str, ...] = ()  # what made the sampling differ from the policy: top_p, ...
    rebuilt_context: bool = True  # rendered anew from messages, so not surely what the policy was prompted with
    leaves_out_reasoning: bool = False  # its message has some, which the chat template does not print


@dataclass
class Sequence:
    """One tokenised conversation. `logprobs` are the rollout's, NaN where not sampled or not known."""

    tokens: list[int]
    sampled: list[bool]
    logprobs: list[float]
    turns: list[Turn] = field(default_factory=list[Turn])
    trajectory: tuple[int, int] = (0, 0)  # its group, and its place there
    advantage: float = 0.0
    weight: float = 0.0

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def num_sampled(self) -> int:
        return sum(self.sampled)

    def has_embeddings(self, num_embeddings: int) -> bool:
        """Whether a model of so many embeddings has one for each token."""
        return min(self.tokens) >= 0 and max(self.tokens) < num_embeddings


def num_without_reasoning(sequences: Iterable[Sequence]) -> int:
    """Trajectories that are trained on without the reasoning of some of their turns."""
    left_out = [one for one in sequences if any(turn.leaves_out_reasoning for turn in one.turns)]
    return len({sequence.trajectory for sequence in left_out})


def is_choice(element: Json) -> bool:
    return "finish_reason" in element and "message" in element


def is_trained(element: Json, index: int, without_logprobs: bool) -> bool:
    require_object(element, index)
    if without_logprobs and is_taught(as_message(element)):
        return True
    with at(f"[{index}]"):
        return bool(logprob_items(element))


def is_taught(message: Json) -> bool:
    """Whether a message is an example to learn. Wire: `weight` 0 leaves one out, as in OpenAI's files."""
    return message.get("role") == "assistant" and message.get("weight") != 0


def require_object(element: Any, index: int) -> None:
    if not isinstance(element, dict):
        raise InputProblem(f"[{index}]", f"{element!r} is no object")


def require_message(message: Json) -> None:
    """Chat templates print a content of another type as Python shows it, and no tokenizer takes half a character."""
    content: Any = message.get("content")
    if not (content is None or isinstance(content, str | list)):
        raise InputProblem("content", "it is neither a text nor a list of content parts")
    for number, part in enumerate(cast(list[Any], content) if isinstance(content, list) else []):
        if not isinstance(part, str | dict):
            raise InputProblem(f"content[{number}]", "it is no content part")
    require_whole_characters(message)


def require_whole_characters(value: Any) -> None:
    """In all texts of a value."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise InputProblem("", "it has a surrogate without its other half") from error
    elif isinstance(value, dict):
        for name, member in cast(Json, value).items():
            with at(name):
                require_whole_characters(member)
    elif isinstance(value, list):
        for number, member in enumerate(cast(list[Any], value)):
            with at(f"[{number}]"):
                require_whole_characters(member)


def as_message(element: Json) -> Json:
    """A plain message as given; a choice as the assistant message that a client sends back."""
    if not is_choice(element):
        return element
    return {**element["message"], "role": "assistant"}


def logprob_items(element: Json) -> list[Json]:
    """The sampled tokens of a choice; empty for a plain message and for a choice without logprobs."""
    logprobs = element.get("logprobs") if is_choice(element) else None
    if logprobs is None:
        return []
    if not isinstance(logprobs, dict):
        raise InputProblem("logprobs", f"{logprobs!r} is no object; ask the chat completion for logprobs=true")
    given = cast(Json, logprobs)
    items: Any = given.get("content") or given.get("refusal") or []
    if not isinstance(items, list):
        raise InputProblem("logprobs.content", f"{items!r} is no list of tokens")
    return cast(list[Json], items)


def turn_of(element: Json, num_tokens: int, step: int | None) -> Turn:
    """Including the gateway's note on a choice about the policy that sampled it."""
    policy = element.get("policy")
    noted = cast(Json, policy) if isinstance(policy, dict) else {}
    noted_step, names = noted.get("step"), noted.get("biased_by")
    texts = {str(name) for name in cast(list[object], names)} if isinstance(names, list) else set[str]()
    known = sorted(name for name in texts if re.fullmatch("[a-z_]+", name))
    return Turn(num_tokens, noted_step if type(noted_step) is int else step, tuple(known))


def sampled_ids(element: Json, tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], list[float]]:
    """The ids of a choice and their logprobs, NaN where not known; empty for a turn that only has text.

    Ids are `token_id:N` in the logprobs, else the choice's `token_ids`, else each token's text looked up.
    """
    items = logprob_items(element)
    texts, logprobs = list[str](), list[float]()
    for number, item in enumerate(items):
        with at(f"logprobs.content[{number}]"):
            texts.append(text_of(item))
            logprobs.append(logprob_of(item))
    given = token_ids_of(element)
    if not items:
        return given, [math.nan] * len(given)
    are_named = all(text.startswith("token_id:") for text in texts)
    if given and len(given) == len(items) and not are_named:
        return given, logprobs
    ids = [int(text.removeprefix("token_id:")) if are_named else look_up(text, tokenizer) for text in texts]
    # Clients that assemble a stream may keep the ids of its first chunk alone.
    if ids[: len(given)] != given:
        raise ValueError("its token_ids and its log-probabilities are of different tokens: send choices as they came")
    return ids, logprobs


def token_ids_of(element: Json) -> list[int]:
    given: Any = element.get("token_ids") if is_choice(element) else None
    ids = cast(list[Any], given) if isinstance(given, list) else []
    return ids if all(type(token) is int for token in ids) else []


def text_of(item: Json) -> str:
    if not isinstance(item, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"{item!r} is no object with a token and its logprob")
    text = item["token"]
    if not isinstance(text, str):
        raise ValueError(f"the token {text!r} is no text")
    return text


def logprob_of(item: Json) -> float:
    """NaN for what is not known: null, or no finite number."""
    logprob = item.get("logprob")
    if logprob is None:
        return math.nan
    if isinstance(logprob, bool) or not isinstance(logprob, int | float):
        raise ValueError(f"the logprob {logprob!r} is no number: send it as the chat completion returned it")
    return float(logprob) if math.isfinite(logprob) else math.nan


def look_up(text: str, tokenizer: PreTrainedTokenizerBase) -> int:
    """The one token that prints `text`; end of text where there is none (an empty text, half a character)."""
    ids = encode(tokenizer, text)
    return ids[0] if len(ids) == 1 else cast(Any, tokenizer).eos_token_id


def encode(tokenizer: PreTrainedTokenizerBase, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False)


def append(sequence: Sequence, tokens: list[int], logprobs: list[float] | None) -> None:
    """Trained tokens come with logprobs, context without."""
    sequence.tokens += tokens
    sequence.sampled += [logprobs is not None] * len(tokens)
    sequence.logprobs += [math.nan] * len(tokens) if logprobs is None else logprobs
