/** The same calls as spans of OpenTelemetry, in the attributes that all of the servers know. */
import { join } from 'node:path'
import protobuf from 'protobufjs'
import type { WorkCall } from './workload.ts'

const PROTO = join(import.meta.dirname, '../../src/trace/otlp/otlp.proto')
const RequestType = protobuf.loadSync(PROTO).lookupType('ExportTraceServiceRequest')

const INTERNAL_KIND = 1
const OK_STATUS = 1

/** The body of an OTLP export. Phoenix takes its project from the resource; the others read it in a header. */
export function otlpBody(project: string, calls: readonly WorkCall[]): Buffer {
  const attributes = [text('openinference.project.name', project)]
  const request = {
    resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: calls.map(spanOf) }] }],
  }
  return Buffer.from(RequestType.encode(RequestType.fromObject(request)).finish())
}

function spanOf(call: WorkCall): object {
  return {
    traceId: bytesOf(call.trace),
    spanId: spanId(call.id),
    ...(call.parent !== null && { parentSpanId: spanId(call.parent) }),
    name: call.op,
    kind: INTERNAL_KIND,
    startTimeUnixNano: `${call.startedMs}000000`,
    endTimeUnixNano: `${call.endedMs}000000`,
    attributes: [
      text('openinference.span.kind', 'LLM'),
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', call.model),
      text('llm.model_name', call.model),
      text('input.value', call.prompt),
      text('output.value', call.answer),
      number('llm.token_count.prompt', call.promptTokens),
      number('llm.token_count.completion', call.completionTokens),
      number('gen_ai.usage.input_tokens', call.promptTokens),
      number('gen_ai.usage.output_tokens', call.completionTokens),
    ],
    status: { code: OK_STATUS },
  }
}

/** The call as servers of the trace API have it: under the ids of its span. */
export function spanAsCall(call: WorkCall): WorkCall {
  return { ...call, id: spanId(call.id).toString('hex'), trace: bytesOf(call.trace).toString('hex') }
}

const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } })
const number = (key: string, intValue: number): object => ({ key, value: { intValue } })
const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex')

/** The random part of a UUID. */
const spanId = (uuid: string): Buffer => bytesOf(uuid).subarray(8)
