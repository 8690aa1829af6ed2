"""Conversations whose assistant turns are all trained on, as text."""

import math
import re
from dataclasses import replace
from typing import Any, cast

from transformers import PreTrainedTokenizerBase

from engine.beat import Beat, no_beat
from engine.template import rendered, template_of, tools_as_printed
from engine.trainer.chat import Sequence, Turn, is_choice, is_taught, require_whole_characters
from engine.trainer.errors import at
from engine.trainer.left_out import (
    leaves_out_reasoning,
    marked,
    require_arguments,
    require_calls,
    require_no_function_call,
)
from engine.trainer.sampled import sequences_of
from engine.trainer.turns import CLOSED, AssistantTurns, messages_of, trained_turns

Json = dict[str, Any]


def tokenize_taught(
    elements: list[Json],
    tools: list[Json] | None,
    tokenizer: PreTrainedTokenizerBase,
    turns: AssistantTurns = "all",
    beat: Beat = no_beat,
) -> list[Sequence]:
    """One sequence, or where a later prompt would not begin with an earlier turn as it was said, several; none for a
    conversation without assistant turns to teach.

    Which tokens are taught is said by the chat template's own `{% generation %}` markers where it has them. Else a turn
    is what the template prints after the prompt that vLLM would make of the messages before it, so that what is taught
    is what a model is asked for.
    """
    messages = messages_of(elements)
    with at("tools"):
        require_whole_characters(tools)
    if not any(is_taught(message) for message in messages):
        return []
    if not re.search(r"\{%-?\s*generation\b", template_of(tokenizer, tools_as_printed(tools))):
        texts = [as_text(element) for element in elements]
        taught = trained_turns(texts, tools, tokenizer, turns=turns, without_logprobs=True, beat=beat)
        return sequences_of([taught], beat)
    due = [(number, message) for number, message in enumerate(messages) if is_taught(message)]
    due = due[-1:] if turns == "last" else due
    for number, message in due:
        with at(f"[{number}]"):
            require_no_function_call(message)
    tokens, flags = with_flags(messages, tools, tokenizer)
    if not any(flags):
        return []
    marks = [marked(message, number) for number, message in enumerate(messages)]
    said = (
        spoken(*with_flags(marks, tools, tokenizer), tokenizer)
        if marks != messages
        else spoken(tokens, flags, tokenizer)
    )
    for number, message in due:
        with at(f"[{number}]"):
            require_calls(said, message, number)
            require_arguments(message)
    left_out = any(leaves_out_reasoning(said, message, number) for number, message in due)
    sequence = Sequence(tokens, without_unweighted(flags, messages), [math.nan] * len(tokens))
    sequence = last_turn(sequence) if turns == "last" else sequence
    return [replace(sequence, turns=[Turn(sequence.num_sampled, leaves_out_reasoning=left_out)])]


def with_flags(
    messages: list[Json], tools: list[Json] | None, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[int], list[bool]]:
    """The tokens of a conversation, and whether the template marks them as generated."""
    how = {"tokenize": True, "return_dict": True, "return_assistant_tokens_mask": True}
    encoded: Json = rendered(messages, tools, tokenizer, CLOSED, **how)
    # Nothing comes before the first token of all, so nothing predicts it.
    return encoded["input_ids"], [index > 0 and bool(flag) for index, flag in enumerate(encoded["assistant_masks"])]


def spoken(tokens: list[int], flags: list[bool], tokenizer: PreTrainedTokenizerBase) -> str:
    """The text of the tokens that are taught."""
    return cast(str, tokenizer.decode([token for token, flag in zip(tokens, flags, strict=True) if flag]))


def without_unweighted(flags: list[bool], messages: list[Json]) -> list[bool]:
    """Without the turns that are left out: the stretches of flags are the assistant turns, in order."""
    answers = [(number, message) for number, message in enumerate(messages) if message.get("role") == "assistant"]
    starts = [place for place, flag in enumerate(flags) if flag and (place == 0 or not flags[place - 1])]
    left_out = [number for number, message in answers if not is_taught(message)]
    if left_out and len(starts) != len(answers):
        with at(f"[{left_out[0]}]"):
            raise ValueError(
                "weight 0 cannot be kept to: the chat template's generation markers do not tell turns apart"
            )
    kept = list(flags)
    for start, (_, message) in zip(starts, answers, strict=False):
        end = next((place for place in range(start, len(flags)) if not flags[place]), len(flags))
        kept[start:end] = [is_taught(message)] * (end - start)
    return kept


def as_text(element: Json) -> Json:
    """A choice without the ids that it was sampled with."""
    return {"finish_reason": None, "message": element["message"]} if is_choice(element) else element


def last_turn(sequence: Sequence) -> Sequence:
    """The conversation up to its last trained turn, the rest being context."""
    end = max(index for index, trained in enumerate(sequence.sampled) if trained) + 1
    start = end
    while start > 0 and sequence.sampled[start - 1]:
        start -= 1
    return replace(sequence, sampled=[start <= index < end for index in range(len(sequence))])
