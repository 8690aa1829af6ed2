"""The official OpenAI client: chat, a stream, a tool call, a JSON schema, models, tokens and an error; one JSON line."""

import json
import os
from typing import Any

from openai import NotFoundError, OpenAI

MODEL = "heddle/loom-tiny"


def main() -> None:
    client = OpenAI(
        base_url=f"{os.environ['BASE_URL']}/v1",
        api_key=os.environ["API_KEY"],
        project="local/clients",
    )
    task: dict[str, Any] = json.loads(os.environ["TASK"])
    ask = [{"role": "user", "content": task["question"]}]
    chat: Any = client.chat.completions
    common = {"model": MODEL, "temperature": 0, "max_tokens": 60}

    text = chat.create(messages=ask, **common).choices[0].message.content
    stream = list(
        chat.create(
            messages=ask, stream=True, stream_options={"include_usage": True}, **common
        )
    )
    streamed = "".join(
        choice.delta.content or "" for chunk in stream for choice in chunk.choices
    )

    wanted = [{"role": "user", "content": task["tool_question"]}]
    called = (
        chat.create(messages=wanted, tools=[task["tool"]], **common)
        .choices[0]
        .message.tool_calls[0]
    )
    schema = {
        "type": "json_schema",
        "json_schema": {"name": "colour", "schema": task["schema"]},
    }
    constrained = (
        chat.create(messages=ask, response_format=schema, **common)
        .choices[0]
        .message.content
    )

    try:
        chat.create(messages=ask, **(common | {"model": "local/clients/nobody"}))
        error = "none"
    except NotFoundError as refusal:
        error = f"{refusal.status_code} {refusal.param}"

    completion = client.completions.create(
        model=MODEL, prompt="The answer", max_tokens=4, temperature=0
    )
    result = {
        "text": text,
        "streamed": streamed,
        "usage": stream[-1].usage.completion_tokens,
        "tool": [called.function.name, json.loads(called.function.arguments)],
        "json": json.loads(constrained),
        "error": error,
        "models": [model.id for model in client.models.list()],
        "model": client.models.retrieve(MODEL).id,
        "completion": completion.choices[0].text,
    }
    print(json.dumps(result))


main()
