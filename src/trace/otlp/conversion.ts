import { placeOf } from '../../access.ts'
import { parseProjectId } from '../../accounts/project-name.ts'
import { ClientError, invalidRequest, tooLarge } from '../../errors.ts'
import { type CallPart, endPart, startPart } from '../calls/write/parts.ts'
import { type Tree, textOf, treeOf, valueAt } from './attributes.ts'
import { checked } from './checked.ts'
import { encodingOf } from './encoding.ts'
import { callOfSpan, type ShownResource } from './span-call.ts'
import * as wire from './wire.ts'

/** Spans of one request; exporters send some hundred and collectors some thousand at once. */
const SPANS_MAX = 50_000

/** Spans whose rows come from a thread at once, which takes some 10 ms, and are written together. */
export const SPANS_PER_LIST = 1000

/** Wire: the reply quotes the first of the reasons why spans were rejected. */
const REASONS_MAX = 20

/** An export as it came, and what else its calls depend on. */
export interface ExportedSpans {
  bytes: Uint8Array
  contentType: string | undefined
  /** The project that the request names, of spans whose resource names none. */
  projectId: string | undefined
  defaultEntity: string
  user: string
}

/** A span as the rows of its call, which do not name its op yet. */
export interface ConvertedSpan {
  projectId: string
  spanName: string
  start: CallPart & { trace_id: string }
  end: CallPart
}

/** What became of the spans of an export. */
export interface Conversion {
  spans: ConvertedSpan[]
  /** The projects that the spans name, also those that make no call. */
  projectIds: string[]
  /** How many spans make no call, and why the first of them do not. */
  rejected: number
  reasons: string[]
}

/** Why a span without a project makes no call. */
export const NO_PROJECT =
  'No project: send the header "project_id: ENTITY/PROJECT" or the resource attributes wandb.entity and wandb.project'

/**
 * Converts spans to calls.
 * @throws 400 for bytes that are no export, or no project of the request; 413 for too many spans or fields
 */
export function convertSpans(exported: ExportedSpans): Conversion {
  if (exported.projectId !== undefined) parseProjectId(exported.projectId)
  const { decode } = encodingOf(exported.contentType)
  const placed = placedSpans(decode(exported.bytes), exported)
  const projectIds = [...new Set(placed.flatMap(({ projectId }) => projectId ?? []))]
  const conversion: Conversion = { spans: [], projectIds, rejected: 0, reasons: [] }
  const checkId = createIdCheck()
  for (const one of placed) {
    try {
      const span = converted(one, exported.user)
      checkId(span)
      conversion.spans.push(span)
    } catch (error) {
      const fault = faultOf(error)
      if (fault === undefined) throw error
      if (conversion.rejected++ < REASONS_MAX) conversion.reasons.push(rejection(one.span, fault))
    }
  }
  return conversion
}

interface PlacedSpan {
  /** Not checked yet. */
  span: unknown
  resource: ShownResource
  /** `entity/project` */
  projectId: string | undefined
}

/** Every span with its project: that of its resource, or else that of the request. @throws 413 for too many. */
function placedSpans(
  request: wire.ExportTraceServiceRequest,
  exported: Pick<ExportedSpans, 'projectId' | 'defaultEntity'>,
): PlacedSpan[] {
  const placed: PlacedSpan[] = []
  for (const part of request.resourceSpans) {
    const { resource, scopeSpans } = checked(wire.ResourceSpans, part, 'a ResourceSpans')
    const attributes = treeOf(resource.attributes)
    const projectId = projectOf(attributes, exported)
    const shown = { attributes, dropped_attributes_count: resource.droppedAttributesCount }
    for (const scope of scopeSpans) {
      const { spans } = checked(wire.ScopeSpans, scope, 'a ScopeSpans')
      if (placed.length + spans.length > SPANS_MAX) throw tooLarge(`At most ${SPANS_MAX} spans at once`)
      for (const span of spans) placed.push({ span, resource: shown, projectId })
    }
  }
  return placed
}

/** Wire: what the resource names has precedence over the request. */
function projectOf(
  resource: Tree,
  { projectId, defaultEntity }: Pick<ExportedSpans, 'projectId' | 'defaultEntity'>,
): string | undefined {
  const project = textOf(valueAt(resource, 'wandb.project'))
  if (project === undefined) return projectId
  const ofRequest = projectId === undefined ? defaultEntity : placeOf(projectId).entity
  return `${textOf(valueAt(resource, 'wandb.entity')) ?? ofRequest}/${project}`
}

/** @throws 400 for a span that makes no call. */
function converted({ span, resource, projectId }: PlacedSpan, user: string): ConvertedSpan {
  if (projectId === undefined) throw invalidRequest(NO_PROJECT)
  parseProjectId(projectId)
  const { op_name: spanName, ...call } = callOfSpan(checked(wire.Span, span, 'a Span'), {
    project_id: projectId,
    resource,
  })
  return { projectId, spanName, start: startPart({ ...call, op_name: '' }, user, []), end: endPart(call, []) }
}

/**
 * A call has the id of its span, so of two spans of a project with one id but different traces the second would replace
 * the first.
 * @throws 400 for the second
 */
function createIdCheck(): (span: ConvertedSpan) => void {
  const traces = new Map<string, string>()
  return ({ projectId, start }) => {
    const key = `${projectId} ${start.id}`
    const trace = traces.get(key) ?? start.trace_id
    if (trace !== start.trace_id)
      throw invalidRequest(`Its id is that of a span of trace ${trace} in the same request`)
    traces.set(key, trace)
  }
}

/** Why a span makes no call; undefined where the error is not the span's. */
function faultOf(error: unknown): string | undefined {
  if (error instanceof ClientError) return error.message
  // The recursion depth over a span depends on its values alone; V8 reports an exhausted stack as a RangeError.
  const isTooDeep = error instanceof RangeError && error.message.includes('call stack')
  return isTooDeep ? 'The span is nested too deeply' : undefined
}

function rejection(span: unknown, fault: string): string {
  const { name, spanId, traceId } = wire.SpanIdentity.parse(span)
  return `Span ${name.slice(0, 100)} (${spanId.slice(0, 32)} of trace ${traceId.slice(0, 32)}): ${fault}`
}
