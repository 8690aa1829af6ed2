import { z } from 'zod'

/**
 * OTLP in its JSON form. Lists are checked element by element by whoever reads them, so that one wrong span costs only
 * itself, and a body with room for millions of wrong elements costs one message.
 */
const Unchecked = z.array(z.unknown()).default([])

/** Wire: JSON writes ids as hex, unlike other bytes; protobuf has the bytes themselves. */
const Id = z.union([z.string(), z.instanceof(Uint8Array).transform(hexOf)]).default('')

/** Wire: exporters write 64-bit integers as text, or as numbers. */
const Long = z.union([z.string().regex(/^-?\d{1,20}$/), z.int()]).transform(BigInt)

/** Wire: enums are numbers; encoders that follow protobuf's own JSON write their names. */
const Enum = z.union([z.int(), z.string()]).default(0)

const Text = z.string().default('')
const Count = z.int().default(0)
const Nanoseconds = Long.default(0n)

export const KeyValue = z.object({ key: Text, value: z.unknown().optional() })

/** One of the fields is set; none means that there is no value. */
export const AnyValue = z
  .object({
    stringValue: z.string().optional(),
    boolValue: z.boolean().optional(),
    intValue: Long.optional(),
    // Wire: JSON has no number for NaN and the infinities, so they are texts.
    doubleValue: z.union([z.number(), z.string()]).optional(),
    arrayValue: z.object({ values: Unchecked }).optional(),
    kvlistValue: z.object({ values: Unchecked }).optional(),
    bytesValue: z.union([z.string(), z.instanceof(Uint8Array)]).optional(),
  })
  .default({})

export const Event = z.object({
  timeUnixNano: Nanoseconds,
  name: Text,
  attributes: Unchecked,
  droppedAttributesCount: Count,
})

export const Link = z.object({
  traceId: Id,
  spanId: Id,
  traceState: Text,
  attributes: Unchecked,
  droppedAttributesCount: Count,
  flags: Count,
})

export const Span = z.object({
  traceId: Id,
  spanId: Id,
  traceState: Text,
  parentSpanId: Id,
  name: Text,
  kind: Enum,
  startTimeUnixNano: Nanoseconds,
  endTimeUnixNano: Nanoseconds,
  attributes: Unchecked,
  events: Unchecked,
  links: Unchecked,
  status: z.object({ message: Text, code: Enum }).prefault({}),
})
export type Span = z.output<typeof Span>

/** What a message says of a span that may be none. */
export const SpanIdentity = z
  .object({ name: Text.catch(''), spanId: Id.catch(''), traceId: Id.catch('') })
  .catch({ name: '', spanId: '', traceId: '' })

export const ScopeSpans = z.object({ spans: Unchecked })

export const ResourceSpans = z.object({
  resource: z.object({ attributes: Unchecked, droppedAttributesCount: Count }).prefault({}),
  scopeSpans: Unchecked,
})

export const ExportTraceServiceRequest = z
  .object({ resourceSpans: Unchecked })
  .meta({ id: 'ExportTraceServiceRequest', description: 'As opentelemetry.io/docs/specs/otlp defines it' })
export type ExportTraceServiceRequest = z.output<typeof ExportTraceServiceRequest>

/** Wire: `partialSuccess` is absent when every span was taken. */
export const ExportTraceServiceResponse = z
  .object({
    partialSuccess: z.object({ rejectedSpans: z.string(), errorMessage: z.string() }).optional(),
  })
  .meta({ id: 'ExportTraceServiceResponse' })
export type ExportTraceServiceResponse = z.output<typeof ExportTraceServiceResponse>

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
