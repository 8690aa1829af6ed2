"""LiteLLM with an OpenAI-compatible base URL: chat, a stream, a tool call, a JSON schema and an error; one JSON line."""

import json
import os
from typing import Any

import litellm

MODEL = "openai/heddle/loom-tiny"


def main() -> None:
    task: dict[str, Any] = json.loads(os.environ["TASK"])
    ask = [{"role": "user", "content": task["question"]}]
    address = {
        "api_base": f"{os.environ['BASE_URL']}/v1",
        "api_key": os.environ["API_KEY"],
    }

    def complete(**fields: Any) -> Any:
        return litellm.completion(
            **({"model": MODEL, "temperature": 0, "max_tokens": 60} | address | fields)
        )

    stream = list(
        complete(messages=ask, stream=True, stream_options={"include_usage": True})
    )
    wanted = [{"role": "user", "content": task["tool_question"]}]
    called = (
        complete(messages=wanted, tools=[task["tool"]]).choices[0].message.tool_calls[0]
    )
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "colour", "schema": task["schema"]},
    }
    constrained = (
        complete(messages=ask, response_format=schema).choices[0].message.content
    )
    try:
        complete(messages=ask, model="openai/local/clients/nobody")
        error = "none"
    except litellm.NotFoundError as refusal:
        error = f"{refusal.status_code} model"

    result = {
        "text": complete(messages=ask).choices[0].message.content,
        "streamed": "".join(
            choice.delta.content or "" for chunk in stream for choice in chunk.choices
        ),
        "usage": stream[-1].usage.completion_tokens,
        "tool": [called.function.name, json.loads(called.function.arguments)],
        "json": json.loads(constrained),
        "error": error,
    }
    print(json.dumps(result))


main()
