"""Finds parts of an assistant turn that a chat template does not print, so that they would not be trained on.

The turn is rendered a second time with unique markers in place of its reasoning and of the names of called functions. A
part whose marker is missing was not printed. The names themselves cannot be searched for: they may occur as words in
the text.
"""

from typing import Any

from engine.template import arguments_of, reasoning_of, texts_of

Json = dict[str, Any]
END_OF_THOUGHT = "</think>"


def marked(message: Json, number: int = 0) -> Json:
    """The message with marks for its reasoning and for the names of the functions that it calls. `number` tells it from
    other messages."""
    calls: list[Json] = message.get("tool_calls") or []
    renamed = [
        {**call, "function": {**call["function"], "name": mark_of_call(number, index)}}
        for index, call in enumerate(calls)
    ]
    reasoning = {"reasoning": mark_of_reasoning(number)} if reasoning_of(message) else {}
    return message | reasoning | ({"tool_calls": renamed} if renamed else {})


def require_calls(said: str, message: Json, number: int = 0) -> None:
    """Some templates leave calls out, which would train the model on silence. `said`: what is taught of the marked
    message."""
    calls: list[Json] = message.get("tool_calls") or []
    for index, call in enumerate(calls):
        if mark_of_call(number, index) not in said:
            raise ValueError(f"the chat template does not print this turn's call of {call['function']['name']!r}")


def require_no_function_call(message: Json) -> None:
    """No chat template prints the older form of a call, nor does vLLM. Wire: clients of OpenAI send null beside the
    newer one."""
    if message.get("function_call"):
        raise ValueError(
            "this turn's function_call is not printed: write it as tool_calls, its function as tools and its result as "
            "a message of the role tool"
        )


def leaves_out_reasoning(said: str, message: Json, number: int = 0) -> bool:
    """Templates of models that do not think leave it out, which may be wanted. `said`: what is taught of the marked
    message."""
    if reasoning_of(message):
        return mark_of_reasoning(number) not in said
    return END_OF_THOUGHT in "".join(texts_of(message)) and END_OF_THOUGHT not in said


def require_arguments(message: Json) -> None:
    """For arguments that are no object an empty one is printed, which would be taught in their place. Wire: some
    clients send an empty text for a function without parameters."""
    calls: list[Json] = message.get("tool_calls") or []
    for call in calls:
        given: Any = call["function"].get("arguments")
        if given is not None and given != "" and arguments_of(given) is None:
            name: str = call["function"]["name"]
            raise ValueError(f"the arguments of this turn's call of {name!r} are no JSON object: {given!r:.100}")


def mark_of_call(number: int, index: int) -> str:
    """Letters that every tokenizer gives back, since marks are looked for in decoded tokens too."""
    return f"marked_call_{index}_of_message_{number}_"


def mark_of_reasoning(number: int) -> str:
    return f"marked_reasoning_of_message_{number}_"
