"""The official OpenAI client, traced by OpenInference's instrumentation; the exporter is configured by its environment."""

import json
import os
from typing import Any

from openai import NotFoundError, OpenAI
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

MODEL = "heddle/loom-tiny"


def main() -> None:
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    OpenAIInstrumentor().instrument(tracer_provider=provider)
    task: dict[str, Any] = json.loads(os.environ["TASK"])
    client = OpenAI(
        base_url=f"{os.environ['BASE_URL']}/v1", api_key=os.environ["API_KEY"]
    )
    chat: Any = client.chat.completions
    ask = [{"role": "user", "content": task["question"]}]
    common = {"model": MODEL, "temperature": 0, "max_tokens": 60}

    with provider.get_tracer("client").start_as_current_span("agent run") as root:
        whole = chat.create(messages=ask, **common)
        stream = chat.create(
            messages=ask, stream=True, stream_options={"include_usage": True}, **common
        )
        streamed = "".join(
            choice.delta.content or "" for chunk in stream for choice in chunk.choices
        )
        wanted = [{"role": "user", "content": task["tool_question"]}]
        called = chat.create(messages=wanted, tools=[task["tool"]], **common)
        try:
            chat.create(messages=ask, **(common | {"model": "local/clients/nobody"}))
        except NotFoundError:
            pass
    provider.force_flush()
    provider.shutdown()
    context = root.get_span_context()
    print(
        json.dumps(
            {
                "trace_id": f"{context.trace_id:032x}",
                "root_id": f"{context.span_id:016x}",
                "text": whole.choices[0].message.content,
                "usage": whole.usage.model_dump(),
                "streamed": streamed,
                "tool": called.choices[0].message.tool_calls[0].function.model_dump(),
            }
        )
    )


main()
