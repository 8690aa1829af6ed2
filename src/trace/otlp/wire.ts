import { z } from 'zod'

/**
 * OTLP in its JSON form. Lists are checked element by element where they are read, so that a wrong span is rejected
 * alone, and millions of wrong elements cost one message.
 */
const Unchecked = z.array(z.unknown()).default([])

/** Wire: JSON writes ids as hex, unlike other bytes; protobuf has the bytes themselves. */
const Id = z.union([z.string(), z.instanceof(Uint8Array).transform(hexOf)]).default('')

/**
 * Wire: exporters write 64-bit integers as text, or as numbers, which are not exact beyond 2^53: nanoseconds are then
 * near.
 */
const Long = z
  .union([z.string().regex(/^-?\d{1,20}$/), z.number().refine(Number.isInteger)])
  .transform(BigInt)

/** Wire: enums are numbers; encoders that follow protobuf's own JSON write their names. */
const Enum = z.union([z.int(), z.string()]).default(0)

const Text = z.string().default('')
const Count = z.int().default(0)
const Nanoseconds = Long.default(0n)

/** Wire: in the JSON of protobuf, null stands for a field that is not set. */
function message<Shape extends z.ZodRawShape>(fields: Shape) {
  return z.preprocess(withoutNulls, z.object(fields))
}

export const KeyValue = message({ key: Text, value: z.unknown().optional() })

/** One of the fields is set; none means that there is no value. */
export const AnyValue = message({
  stringValue: z.string().optional(),
  boolValue: z.boolean().optional(),
  intValue: Long.optional(),
  // Wire: JSON has no number for NaN and the infinities, so they are texts.
  doubleValue: z.union([z.number(), z.string()]).optional(),
  arrayValue: message({ values: Unchecked }).optional(),
  kvlistValue: message({ values: Unchecked }).optional(),
  bytesValue: z.union([z.string(), z.instanceof(Uint8Array)]).optional(),
})

export const Event = message({
  timeUnixNano: Nanoseconds,
  name: Text,
  attributes: Unchecked,
  droppedAttributesCount: Count,
})

export const Link = message({
  traceId: Id,
  spanId: Id,
  traceState: Text,
  attributes: Unchecked,
  droppedAttributesCount: Count,
  flags: Count,
})

export const Span = message({
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
  status: message({ message: Text, code: Enum }).prefault({}),
})
export type Span = z.output<typeof Span>

/** An element that may not be a span. */
export const SpanIdentity = z
  .object({ name: Text.catch(''), spanId: Id.catch(''), traceId: Id.catch('') })
  .catch({ name: '', spanId: '', traceId: '' })

export const ScopeSpans = message({ spans: Unchecked })

export const ResourceSpans = message({
  resource: message({ attributes: Unchecked, droppedAttributesCount: Count }).prefault({}),
  scopeSpans: Unchecked,
})

/** A JSON object; the API's description shows it under its schema's name. */
export const ExportTraceServiceRequest = z.preprocess(
  withoutNulls,
  z
    .object({ resourceSpans: Unchecked })
    .meta({ id: 'ExportTraceServiceRequest', description: 'As opentelemetry.io/docs/specs/otlp defines it' }),
)
export type ExportTraceServiceRequest = z.output<typeof ExportTraceServiceRequest>

/** Wire: `partialSuccess` is absent when every span was taken. */
export const ExportTraceServiceResponse = z
  .object({
    partialSuccess: z.object({ rejectedSpans: z.string(), errorMessage: z.string() }).optional(),
  })
  .meta({ id: 'ExportTraceServiceResponse' })
export type ExportTraceServiceResponse = z.output<typeof ExportTraceServiceResponse>

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  if (!Object.values(value).includes(null)) return value
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
}
