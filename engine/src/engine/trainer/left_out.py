"""What of a turn a chat template leaves out: by marks that stand for it in another rendering of the turn.

What is left out cannot be seen from the text itself, which may have the name of a called function as a word.
"""

from typing import Any

Json = dict[str, Any]


def marked(message: Json, number: int = 0) -> Json:
    """The message with marks for the names of the functions that it calls. `number` tells it from other messages."""
    calls: list[Json] = message.get("tool_calls") or []
    if not calls:
        return message
    renamed = [
        {**call, "function": {**call["function"], "name": mark_of_call(number, index)}}
        for index, call in enumerate(calls)
    ]
    return {**message, "tool_calls": renamed}


def require_calls(said: str, message: Json, number: int = 0) -> None:
    """Some templates leave calls out, which would train the model on silence. `said`: what is taught of the marked
    message."""
    calls: list[Json] = message.get("tool_calls") or []
    for index, call in enumerate(calls):
        if mark_of_call(number, index) not in said:
            raise ValueError(f"the chat template does not print this turn's call of {call['function']['name']!r}")


def mark_of_call(number: int, index: int) -> str:
    """Letters that every tokenizer gives back, since marks are looked for in decoded tokens too."""
    return f"marked_call_{index}_of_message_{number}_"
