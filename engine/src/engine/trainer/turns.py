"""The trained turns of a conversation: the policy's prompt and its answer.

The inference gateway notes on each choice the ids of its prompt (`prompt_token_ids`) and of what was sampled. Where
it did, nothing is rendered or tokenised: a chat template may print an earlier turn otherwise in a later prompt, or
text that was sampled as other tokens, and log-probabilities would then be computed in a context that never was.
Where it did not, the prompt is what vLLM would make of the messages before the turn, and its tokens are counted.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from engine.beat import Beat, no_beat
from engine.template import reasoning_of, rendered, texts_of
from engine.trainer.answered_by import is_of_another_model, request_of
from engine.trainer.chat import (
    Turn,
    as_message,
    encode,
    is_choice,
    is_trained,
    logprob_items,
    require_message,
    require_object,
    require_whole_characters,
    sampled_ids,
    turn_of,
)
from engine.trainer.errors import at
from engine.trainer.left_out import (
    leaves_out_reasoning,
    marked,
    require_arguments,
    require_calls,
    require_no_function_call,
)

Json = dict[str, Any]
AssistantTurns = Literal["all", "last"]
MARKER = "\ue000turn\ue001"
THOUGHTS = ("<think>", "</think>")
MEDIA = ("image", "audio", "video")  # in the types of content parts, such as input_image and video_url
PROMPT: Json = {"add_generation_prompt": True, "continue_final_message": False}
CONTINUED: Json = {"add_generation_prompt": False, "continue_final_message": True}
CLOSED: Json = {"add_generation_prompt": False, "continue_final_message": False}
# Members of a request beside its messages that change its prompt.
SETTINGS = ("add_generation_prompt", "continue_final_message", "documents", "reasoning_effort", "chat_template")


@dataclass(frozen=True)
class SampledTurn:
    """One trained turn. `logprobs` are the rollout's, one for each of `ids`, NaN where not known."""

    prompt: list[int]
    ids: list[int]
    logprobs: list[float]
    turn: Turn
    index: int  # among the choices of its reply


@dataclass(frozen=True)
class Place:
    """A trained turn among the messages of its conversation."""

    element: Json
    number: int
    before: list[Json]  # the messages that it was prompted with
    message: Json  # its own; with what it continues, where that is so
    continues: bool  # the last message before, which stands open: an assistant's prefill


def trained_turns(
    elements: list[Json],
    tools: list[Json] | None,
    tokenizer: PreTrainedTokenizerBase,
    step: int | None = None,
    *,
    turns: AssistantTurns = "all",
    model: str | None = None,
    without_logprobs: bool = False,
    require_sampled_context: bool = False,
    beat: Beat = no_beat,
) -> list[SampledTurn]:
    """In order. Trained are the choices with logprobs; `without_logprobs` all assistant turns; of these `turns`, and
    with a `model` none that was recorded of another. `step` is the policy's where a choice does not say. With a beat
    after each: a turn that is rendered takes as long as all before it are long."""
    if not isinstance(elements, list):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(f"{elements!r} is no list of messages and choices")
    with at("tools"):
        require_whole_characters(tools)
    due = [
        place
        for place in places(elements, without_logprobs)
        if model is None or not is_of_another_model(place.element, model)
    ]
    found: list[SampledTurn] = []
    for place in due[-1:] if turns == "last" else due:
        with at(f"[{place.number}]"):
            element = place.element
            require_text(place.before)
            prompt = prompt_ids(element)
            ids, logprobs = sampled_ids(element, tokenizer)
            is_rebuilt = not prompt or not ids
            if is_rebuilt and element.get("text_completion"):
                raise ValueError(
                    "a text completion is trained on by its token ids alone: sample it with return_token_ids=true"
                )
            if is_rebuilt and require_sampled_context:
                raise ValueError(
                    "it does not carry the token ids of its prompt and its answer (prompt_token_ids, token_ids), which "
                    "require_sampled_context asks for: sample with logprobs=true and send choices as they came"
                )
            without_reasoning = False
            if is_rebuilt and ids:
                prompt = rebuilt_prompt(place, tools, tokenizer, ids)
            elif is_rebuilt:
                prompt, ids, without_reasoning = rebuilt(place, tools, tokenizer)
                logprobs = [math.nan] * len(ids)
            turn = replace(
                turn_of(element, len(ids), step), rebuilt_context=is_rebuilt, leaves_out_reasoning=without_reasoning
            )
            found.append(SampledTurn(prompt, ids, logprobs, turn, index_of(element)))
        beat()
    return found


def require_text(messages: list[Json]) -> None:
    """In the ids of a prompt, an image, audio or video is placeholders: the trained model would see nothing of it."""
    for message in messages:
        content: Any = message.get("content")
        for part in cast(list[Any], content) if isinstance(content, list) else []:
            if any(medium in (kind := kind_of(part)) for medium in MEDIA):
                raise ValueError(
                    f"a message before it has a content part of type {kind!r}, which the trainer cannot show the "
                    "model: only text can be trained on"
                )


def kind_of(part: Any) -> str:
    """Of a content part. Wire: some come without a type, as {"image_url": ...}."""
    if not isinstance(part, dict):
        return "text"
    known = cast(Json, part)
    return str(known.get("type") or next(iter(known), "text"))


def places(elements: list[Json], without_logprobs: bool) -> Iterator[Place]:
    """The trained turns. A message that a choice continues is a part of its prompt and none of them."""
    found = [*walked(elements)]
    for place, following in zip(found, [*found, None][1:], strict=True):
        is_due = is_trained(place.element, place.number, without_logprobs)
        if is_due and not (following is not None and following.continues):
            yield place


def walked(elements: list[Json]) -> Iterator[Place]:
    messages: list[Json] = []
    is_open = False  # the last message is an assistant's that no choice stands for
    for number, element in enumerate(elements):
        require_object(element, number)
        with at(f"[{number}]"):
            message, before = as_message(element), list(messages)
            require_message(message)
            continues = is_open and is_choice(element) and request_of(element).get("continue_final_message", True)
            if continues:
                message = joined(messages.pop(), message)
            messages.append(message)
            is_open = not is_choice(element) and is_prefill(element)
        yield Place(element, number, before, message, continues)


def messages_of(elements: list[Json]) -> list[Json]:
    """The conversation as messages alone."""
    found = [*walked(elements)]
    if not found:
        return []
    last = found[-1]
    return [*(last.before[:-1] if last.continues else last.before), last.message]


def is_prefill(message: Json) -> bool:
    return message.get("role") == "assistant" and bool(message.get("content")) and not message.get("tool_calls")


def joined(prefill: Json, message: Json) -> Json:
    """One turn, as the client has it to send it back."""
    return {**message, "content": "\n".join(texts_of(prefill)) + (message.get("content") or "")}


def rebuilt_prompt(
    place: Place, tools: list[Json] | None, tokenizer: PreTrainedTokenizerBase, ids: list[int]
) -> list[int]:
    """The ids of the prompt as vLLM makes it. `ids` are what was sampled."""
    options = options_of(place, tokenizer, ids)
    return encode(tokenizer, rendered(place.before, tools, tokenizer, form_of(place) | options))


def form_of(place: Place) -> Json:
    return CONTINUED if place.continues else PROMPT


def rebuilt(
    place: Place, tools: list[Json] | None, tokenizer: PreTrainedTokenizerBase
) -> tuple[list[int], list[int], bool]:
    """The ids of the prompt as vLLM makes it, and of what the template prints for the turn, with its end of turn; and
    whether that leaves out the turn's reasoning."""
    require_no_function_call(place.message)
    require_arguments(place.message)
    options = options_of(place, tokenizer, [])
    earlier = place.before[:-1] if place.continues else place.before

    def closed(messages: list[Json]) -> str:
        return rendered(messages, tools, tokenizer, options | CLOSED)

    def prompted(messages: list[Json]) -> str:
        return rendered(messages, tools, tokenizer, form_of(place) | options)

    def split(message: Json) -> tuple[str, str]:
        whole = closed([*earlier, message])
        if whole.startswith(prompt):
            return prompt, whole[len(prompt) :]
        opening = opening_of(prompt, earlier, closed)
        found = parted(prompt, opening, head, whole, message)
        if found is not None:
            return found
        opened = opened_thought(opening)
        return prompt.removesuffix(opened), after_last_message(message, opened)

    def after_last_message(message: Json, opened: str) -> str:
        """The turn where an earlier message is printed differently once it follows, as a system text is that stands in
        a last message alone: what follows the text of the last message, without what follows it in the prompt too."""
        last = earlier[-1] if earlier else None
        known = [{**one, "content": MARKER} if one is last else one for one in place.before]
        header = prompted(known).rpartition(MARKER)[2].removesuffix(opened)
        _, mark, printed = closed([*known[: len(earlier)], message]).rpartition(MARKER)
        if mark and printed.startswith(header):
            return printed[len(header) :]
        raise ValueError("the chat template prints what comes before this turn differently once the turn follows")

    head, _, after = closed([*earlier, {"role": "assistant", "content": MARKER}]).partition(MARKER)
    try:
        # A conversation may begin with an answer, and some templates want a question first.
        prompt = prompted(place.before) if place.before else head
    except TemplateError:
        prompt = head
    own_prompt, said = split(place.message)
    marks = marked(place.message)
    with_marks = said if marks == place.message else split(marks)[1]
    require_calls(with_marks, place.message)
    end = end_of_turn(after, tokenizer)
    said = said[: said.rindex(end) + len(end)] if end and end in said else said + end
    without_reasoning = leaves_out_reasoning(with_marks, place.message)
    return encode(tokenizer, own_prompt), encode(tokenizer, said), without_reasoning


def opening_of(prompt: str, earlier: list[Json], closed: Callable[[list[Json]], str]) -> str:
    """What a prompt adds to the messages before the turn: its header, and maybe the beginning of a thought. Empty where
    the template prints these messages differently, or not at all, without a prompt."""
    try:
        before = closed(earlier) if earlier else ""
    except TemplateError:
        return ""
    return prompt.removeprefix(before) if prompt.startswith(before) else ""


def opened_thought(opening: str) -> str:
    """Of what a prompt adds, the part from the thought on."""
    return opening[len(opening.partition(THOUGHTS[0])[0]) :]


def parted(prompt: str, opening: str, head: str, whole: str, message: Json) -> tuple[str, str] | None:
    """Splits a text that ends with the turn, and does not begin with its prompt, into a prompt and the rest; None where
    neither a thought nor a header tells where the turn begins. `head`: what the template prints before the turn's own
    text.

    A prompt may open a thought that the template leaves out of the text. Then the turn is trained on with the thought
    of the message, if that goes on with it, else as the template prints it."""
    opened = opened_thought(opening)
    header = opening.removesuffix(opened)
    before = prompt.removesuffix(opened)
    printed = whole.removeprefix(before) if before and whole.startswith(before) else None
    said = continuation(opened, printed or "")
    if said is not None:
        return prompt, said
    said = continuation(opened, raw_text(message))
    if said is not None and printed is not None and message.get("tool_calls"):
        return prompt, thought_of(said) + printed.lstrip()
    if said is not None:
        return prompt, said
    if printed is not None:
        return before, printed
    # An earlier turn is printed differently once this one follows.
    if header and header in head:
        start = head.rpartition(header)[0] + header
        if whole.startswith(start) and is_empty_thought(head.removeprefix(start)):
            return before, whole[len(start) :]
    return None


def continuation(opened: str, raw: str) -> str | None:
    """How a turn goes on after the thought that its prompt opens; None where it does not. A reply of this server that
    no parser of reasoning has read begins inside that thought."""
    if not opened:
        return None
    if raw.startswith(opened):
        return raw[len(opened) :]
    begun, end, _ = raw.partition(THOUGHTS[1])
    return raw if end and THOUGHTS[0] not in begun and THOUGHTS[1] not in opened else None


def thought_of(said: str) -> str:
    """With the white space after it."""
    thought, end, answer = said.partition(THOUGHTS[1])
    return thought + end + answer[: len(answer) - len(answer.lstrip())]


def is_empty_thought(text: str) -> bool:
    return not text.replace(THOUGHTS[0], "").replace(THOUGHTS[1], "").strip()


def raw_text(message: Json) -> str:
    """With the thought as models write it."""
    text, reasoning = "\n".join(texts_of(message)), reasoning_of(message)
    return text if reasoning is None else f"<think>\n{reasoning}\n</think>\n\n{text}"


def end_of_turn(after: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """The special token that a text begins with, and white space before it; empty where it begins with another."""
    for special in sorted(special_texts(tokenizer), key=len, reverse=True):
        start, found, _ = after.partition(special)
        if found and not start.strip():
            return start + special
    return ""


def special_texts(tokenizer: PreTrainedTokenizerBase) -> set[str]:
    added = cast(dict[int, Any], cast(Any, tokenizer).added_tokens_decoder).values()
    return {*cast(Any, tokenizer).all_special_tokens, *(str(token) for token in added if token.special)}


def options_of(place: Place, tokenizer: PreTrainedTokenizerBase, ids: list[int]) -> Json:
    """The arguments of the template, as far as they are known. A turn without a thought was most likely sampled with
    thinking off, where the template has that option."""
    settings = request_of(place.element)
    if settings:
        given: Any = settings.get("chat_template_kwargs")
        own = {name: settings[name] for name in SETTINGS if settings.get(name) is not None}
        return {**(cast(Json, given) if isinstance(given, dict) else {}), **own}
    if not ids or "enable_thinking" not in str(cast(Any, tokenizer).chat_template):
        return {}
    # Other ids have no text, and a tokenizer may refuse them.
    text = cast(str, tokenizer.decode([token for token in ids if 0 <= token < len(tokenizer)]))
    thought = any(mark in text for mark in THOUGHTS) or reasoning_of(place.message) is not None
    return {} if thought else {"enable_thinking": False}


def prompt_ids(element: Json) -> list[int]:
    """The prompt of the policy, empty where not known. Clients that assemble streamed replies keep no unknown members
    of a choice, only those of its first token."""
    if not is_choice(element):
        return []
    given: Any = element.get("prompt_token_ids")
    if given is None and (items := logprob_items(element)) and isinstance(items[0], dict):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = items[0].get("prompt_token_ids")
    if given is None:
        return []
    if not isinstance(given, list) or any(type(token) is not int for token in cast(list[object], given)):
        raise ValueError("prompt_token_ids is no list of integers")
    return cast(list[int], given)


def index_of(element: Json) -> int:
    index = element.get("index")
    return index if type(index) is int else 0
