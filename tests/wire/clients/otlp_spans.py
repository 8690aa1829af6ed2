"""Two nested spans and a failed one through an OTLP exporter that is configured by its environment alone."""

import json

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
tracer = provider.get_tracer("client")

with tracer.start_as_current_span(
    "agent run", attributes={"gen_ai.conversation.id": "conversation-1"}
) as root:
    chat_attributes = {
        "gen_ai.request.model": "tiny",
        "gen_ai.input.messages": json.dumps([{"role": "user", "content": "naïve?"}]),
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.request.temperature": 0.5,
    }
    with tracer.start_as_current_span("chat", attributes=chat_attributes) as chat:
        chat.add_event("token", {"index": 1})
    with tracer.start_as_current_span("tool") as tool:
        tool.record_exception(ValueError("no weather"))
        tool.set_status(Status(StatusCode.ERROR))

provider.force_flush()
provider.shutdown()
context = root.get_span_context()
print(
    json.dumps(
        {
            "trace_id": f"{context.trace_id:032x}",
            "root_id": f"{context.span_id:016x}",
            "chat_id": f"{chat.get_span_context().span_id:016x}",
        }
    )
)
