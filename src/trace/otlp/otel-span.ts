import { invalidRequest } from '../../errors.ts'
import { JsonText } from '../../json/lossless-json.ts'
import { isoOfMicros } from '../../time.ts'
import { type Tree, treeOf } from './attributes.ts'
import { checked } from './checked.ts'
import * as wire from './wire.ts'

/** An event of a span, with its attributes by their dotted names. */
export interface ShownEvent {
  name: string
  timestamp: JsonText
  attributes: Tree
  dropped_attributes_count: number
}

export function shownEvent(event: unknown): ShownEvent {
  const { name, timeUnixNano, attributes, droppedAttributesCount } = checked(wire.Event, event, 'an Event')
  return {
    name,
    timestamp: new JsonText(String(timeUnixNano)),
    attributes: treeOf(attributes),
    dropped_attributes_count: droppedAttributesCount,
  }
}

/** Wire: `attributes.otel_span` holds the original span. */
export function otelSpan(
  span: wire.Span,
  shown: { attributes: Tree; events: readonly ShownEvent[]; resource: object },
): object {
  return {
    name: span.name,
    context: { trace_id: span.traceId, span_id: span.spanId, trace_state: span.traceState },
    kind: enumName(span.kind, KINDS, 'SPAN_KIND_'),
    parent_id: span.parentSpanId || null,
    start_time: timeOf(span.startTimeUnixNano),
    end_time: timeOf(span.endTimeUnixNano),
    status: {
      code: enumName(span.status.code, STATUS_CODES, 'STATUS_CODE_'),
      message: span.status.message,
    },
    attributes: shown.attributes,
    events: shown.events,
    links: span.links.map(shownLink),
    resource: shown.resource,
  }
}

function shownLink(linked: unknown): object {
  const link = checked(wire.Link, linked, 'a Link')
  return {
    trace_id: link.traceId,
    span_id: link.spanId,
    trace_state: link.traceState,
    attributes: treeOf(link.attributes),
    dropped_attributes_count: link.droppedAttributesCount,
    flags: link.flags,
  }
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER']
const STATUS_CODES = ['UNSET', 'OK', 'ERROR']

function enumName(value: number | string, names: readonly string[], prefix: string): string {
  return typeof value === 'string' ? value.replace(prefix, '') : (names[value] ?? names[0] ?? '')
}

/** The database keeps times up to the year 2299; these nanoseconds end in 2262. */
const NANOSECONDS_MAX = 2n ** 63n - 1n

/**
 * The text of a time in nanoseconds since 1970, rounded to microseconds: nanoseconds sent as a JSON number are not
 * exact.
 * @throws 400 for one that cannot be stored.
 */
export function timeOf(nanoseconds: bigint): string {
  if (nanoseconds < 0n || nanoseconds > NANOSECONDS_MAX)
    throw invalidRequest(`Invalid time: ${nanoseconds} ns since 1970`)
  return isoOfMicros(Number((nanoseconds + 500n) / 1000n))
}
