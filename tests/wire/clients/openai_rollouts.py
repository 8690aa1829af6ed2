"""Rollouts with the official OpenAI client: several turns with tools, parallel calls, streams and several choices. Prints
the conversations as a program would train on them: choices as they came, dumped to JSON."""

import json
import os
from typing import Any

from openai import OpenAI

TASK: dict[str, Any] = json.loads(os.environ["TASK"])
CLIENT = OpenAI(base_url=f"{os.environ['BASE_URL']}/v1", api_key=os.environ["API_KEY"])


def ask(messages: list[Any], thinking: bool, **more: Any) -> list[dict[str, Any]]:
    """The choices of one reply; of a stream, with the tokens of its chunks."""
    chat: Any = CLIENT.chat.completions
    options: dict[str, Any] = {"max_tokens": 14, "logprobs": True, **more}
    kwargs = {"chat_template_kwargs": {"enable_thinking": thinking}}
    reply = chat.create(
        model=TASK["model"], messages=messages, extra_body=kwargs, **options
    )
    if not options.get("stream"):
        return [choice.model_dump() for choice in reply.choices]
    chunks = [choice.model_dump() for chunk in reply for choice in chunk.choices]
    tokens = [
        token
        for chunk in chunks
        for token in (chunk["logprobs"] or {"content": []})["content"]
    ]
    text = "".join(chunk["delta"].get("content") or "" for chunk in chunks)
    return [
        {
            "index": 0,
            "finish_reason": chunks[-1]["finish_reason"],
            "logprobs": {"content": tokens},
            "message": {"role": "assistant", "content": text},
        }
    ]


def talk(replies: list[list[Any]], thinking: bool, **more: Any) -> list[Any]:
    """Each answer is sent back whole, followed by the next messages."""
    elements: list[Any] = [TASK["first"]]
    messages: list[Any] = [TASK["first"]]
    for following in [*replies, []]:
        (choice,) = ask(messages, thinking, **more)
        said = {
            key: value for key, value in choice["message"].items() if value is not None
        }
        messages += [{"content": "", **said}, *following]
        elements += [choice, *following]
    return elements


def main() -> None:
    rollouts: list[Any] = []
    for thinking in (False, True):
        several = ask([TASK["first"]], thinking, n=2)
        rollouts += [
            talk([[TASK["next"]], [TASK["next"]]], thinking),
            talk([TASK["tools_used"]], thinking, tools=TASK["tools"]),
            talk([[TASK["next"]]], thinking, stream=True),
            *([TASK["first"], choice] for choice in several),
        ]
    print(json.dumps({"rollouts": rollouts}))


main()
