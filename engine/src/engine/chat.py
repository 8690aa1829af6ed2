"""Conversations to token ids, with the ids that the policy is trained on marked.

A conversation is a list of messages and choices. A choice is what a chat completion returned: it has `finish_reason`
and `message`, and where the policy sampled it also the ids of its tokens.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from transformers import PreTrainedTokenizerBase

from engine.errors import InputProblem, at

Json = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """Where the tokens of one trained turn come from."""

    num_tokens: int
    step: int | None = None  # the step of the policy that sampled it, where known
    biased_by: tuple[str, ...] = ()  # what made the sampling differ from the policy: top_p, ...
    rebuilt_context: bool = True  # rendered anew from messages, so not surely what the policy was prompted with


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


def tokenize(
    elements: list[Json],
    tools: list[Json] | None,
    tokenizer: PreTrainedTokenizerBase,
    step: int | None = None,
    without_logprobs: bool = False,
) -> Sequence | None:
    """A conversation up to its last trained turn; None when it has none.

    Trained are the choices with logprobs; `without_logprobs` all assistant turns. The chat template prints a marker in
    place of each, its text is cut there, and the turn's ids go between the pieces: the policy is trained on the very
    ids it produced, which re-tokenising text cannot promise. `step` is the policy's where a choice does not say.
    """
    turns = [index for index, element in enumerate(elements) if is_trained(element, index, without_logprobs)]
    if not turns:
        return None
    if any(element.get("text_completion") for element in elements):
        raise ValueError("a text completion is trained on by its token ids alone: sample it with return_token_ids=true")
    conversation = Conversation(elements[: turns[-1] + 1], tools, tokenizer)
    markers = {index: f"\ue000turn {index}\ue001" for index in turns}
    text = conversation.render(markers)
    sequence = Sequence([], [], [])
    end_of_turn: list[int] = []
    for index in turns:
        with at(f"[{index}]"):
            before, marker, text = text.partition(markers[index])
            if not marker:
                raise ValueError("the chat template does not print its content as it is")
            context = encode(tokenizer, before)
            ids, logprobs = sampled_ids(elements[index], tokenizer)
            next_end_of_turn = ids[-1:]
            if not ids:
                spoken, next_end_of_turn = conversation.turn_ids(index)
                ids = spoken + next_end_of_turn
                logprobs = [math.nan] * len(ids)
        # The trained end of turn stands for the template's own.
        start = len(end_of_turn) if context[: len(end_of_turn)] == end_of_turn else 0
        # "<think>", two newlines, "</think>", two newlines: an empty preamble that a thinking turn did not have.
        end = -4 if context[-4:-3] == ids[:1] and tokenizer.decode(ids[:1]) == "<think>" else None
        append(sequence, context[start:end], None)
        if sequence.tokens:
            append(sequence, ids, logprobs)
        else:
            # Nothing comes before the first token of all, so nothing predicts it.
            append(sequence, ids[:1], None)
            append(sequence, ids[1:], logprobs[1:])
        sequence.turns.append(turn_of(elements[index], len(ids), step))
        end_of_turn = next_end_of_turn
    return sequence if any(sequence.sampled) else None


def tokenize_taught(
    messages: list[Json], tools: list[Json] | None, tokenizer: PreTrainedTokenizerBase
) -> Sequence | None:
    """A conversation whose assistant turns are all trained on, as text; None when it has none.

    Which tokens those are is said by the chat template's own `{% generation %}` markers where it has them.
    """
    messages = [as_message(element, None) for element in messages]
    if not any(message.get("role") == "assistant" for message in messages):
        return None
    if not re.search(r"\{%-?\s*generation\b", template_of(tokenizer)):
        return tokenize(messages, tools, tokenizer, without_logprobs=True)
    encoded: Json = cast(Any, tokenizer).apply_chat_template(
        for_template(messages, tokenizer),
        tools=tools,
        return_dict=True,
        return_assistant_tokens_mask=True,
        **template_options(tokenizer),
    )
    tokens: list[int] = encoded["input_ids"]
    # Nothing comes before the first token of all, so nothing predicts it.
    taught = [index > 0 and bool(flag) for index, flag in enumerate(encoded["assistant_masks"])]
    return Sequence(tokens, taught, [math.nan] * len(tokens)) if any(taught) else None


# ---- the chat template ----


@dataclass(frozen=True)
class Conversation:
    elements: list[Json]
    tools: list[Json] | None
    tokenizer: PreTrainedTokenizerBase

    def render(self, markers: Mapping[int, str]) -> str:
        """The text of the conversation, with markers in place of some assistant turns, tool calls included."""
        messages = [as_message(element, markers.get(index)) for index, element in enumerate(self.elements)]
        return cast(Any, self.tokenizer).apply_chat_template(
            for_template(messages, self.tokenizer), tools=self.tools, tokenize=False, **template_options(self.tokenizer)
        )

    def turn_ids(self, index: int) -> tuple[list[int], list[int]]:
        """What the template prints for an assistant turn, and what it ends the turn with.

        The turn is what the whole text has between the two pieces that a marker in its place leaves.
        """
        marker = "\ue000turn\ue001"
        whole = self.render({})
        before, _, after = self.render({index: marker}).partition(marker)
        if not (whole.startswith(before) and whole.endswith(after) and len(before) + len(after) <= len(whole)):
            raise ValueError("the chat template prints this turn differently depending on what follows or precedes it")
        spoken = encode(self.tokenizer, whole[len(before) : len(whole) - len(after)])
        return spoken, leading_special(encode(self.tokenizer, after), self.tokenizer)


def leading_special(ids: list[int], tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """The special token that a text begins with, and white space before it; empty when it begins with another."""
    special: list[int] = cast(Any, tokenizer).all_special_ids
    for number, token in enumerate(ids, 1):
        if token in special:
            return ids[:number]
        if cast(str, tokenizer.decode([token])).strip():
            break
    return []


def template_of(tokenizer: PreTrainedTokenizerBase) -> str:
    return cast(Any, tokenizer).chat_template


def template_options(tokenizer: PreTrainedTokenizerBase) -> Json:
    """Rollouts are sampled without a thinking preamble, and what was thought in earlier turns stays in the context."""
    options = {"enable_thinking": False, "preserve_thinking": True}
    return {name: value for name, value in options.items() if name in template_of(tokenizer)}


def for_template(messages: list[Json], tokenizer: PreTrainedTokenizerBase) -> list[Json]:
    """Some templates walk over the arguments of a call, which travel as JSON text."""
    if not re.search(r"arguments\s*\|\s*items", template_of(tokenizer)):
        return messages
    return [with_parsed_arguments(message) for message in messages]


def with_parsed_arguments(message: Json) -> Json:
    calls: list[Json] = message.get("tool_calls") or []
    if not calls:
        return message
    functions = [{**call["function"], "arguments": parsed(call["function"]["arguments"])} for call in calls]
    return {**message, "tool_calls": [{**call, "function": f} for call, f in zip(calls, functions, strict=True)]}


def parsed(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


# ---- messages and choices ----


def is_choice(element: Json) -> bool:
    return "finish_reason" in element and "message" in element


def is_trained(element: Json, index: int, without_logprobs: bool) -> bool:
    if not isinstance(element, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputProblem(f"[{index}]", f"{element!r} is no object")
    if without_logprobs and (is_choice(element) or element.get("role") == "assistant"):
        return True
    with at(f"[{index}]"):
        return bool(logprob_items(element))


def as_message(element: Json, marker: str | None) -> Json:
    """A plain message as given; a choice as an assistant message. With a marker the tool calls go as well: the
    turn's tokens already hold them."""
    if marker is not None:
        return {"role": "assistant", "content": marker}
    if not is_choice(element):
        return element
    message: Json = element["message"]
    plain: Json = {"role": "assistant", "content": message.get("content") or ""}
    return {**plain, "tool_calls": message["tool_calls"]} if message.get("tool_calls") else plain


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
    """With what the gateway noted on a choice about the policy that sampled it."""
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
    if items and all(text.startswith("token_id:") for text in texts):
        ids = [int(text.removeprefix("token_id:")) for text in texts]
    elif len(given) == len(texts) or not items:
        ids, logprobs = given, logprobs or [math.nan] * len(given)
    else:
        ids = [look_up(text, tokenizer) for text in texts]
    if unknown := [token for token in ids if not 0 <= token < len(tokenizer)]:
        raise ValueError(f"sampled token id {unknown[0]} is not in the vocabulary of {len(tokenizer)} tokens")
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
