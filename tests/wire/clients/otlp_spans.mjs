/** Two nested spans and a failed one, through an OTLP exporter that is configured by its environment alone. */
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

const exporter = process.argv[2] === 'json' ? new JsonExporter() : new ProtobufExporter()
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] })
const tracer = provider.getTracer('client')

const root = tracer.startSpan('agent run', { attributes: { 'gen_ai.conversation.id': 'conversation-1' } })
const inRoot = trace.setSpan(ROOT_CONTEXT, root)
const chat = tracer.startSpan(
  'chat',
  {
    attributes: {
      'gen_ai.request.model': 'tiny',
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', content: 'naïve?' }]),
      'gen_ai.usage.input_tokens': 3,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.request.temperature': 0.5,
    },
  },
  inRoot,
)
chat.addEvent('token', { index: 1 })
chat.end()
const tool = tracer.startSpan('tool', {}, inRoot)
tool.recordException(new Error('no weather'))
tool.setStatus({ code: SpanStatusCode.ERROR })
tool.end()
root.end()
await provider.forceFlush()
await provider.shutdown()
const { traceId, spanId } = root.spanContext()
console.log(JSON.stringify({ trace_id: traceId, root_id: spanId, chat_id: chat.spanContext().spanId }))
