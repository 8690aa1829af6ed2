import { type Place, placeOf, requireRight } from '../../access.ts'
import { ClientError, invalidRequest, tooLarge } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import { inTurns } from '../../in-turns.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { Calls } from '../calls/service.ts'
import { type CallPart, endPart, startPart } from '../calls/write/parts.ts'
import type { Files } from '../files/service.ts'
import type { Objects } from '../objects/service.ts'
import { type Tree, textOf, treeOf, valueAt } from './attributes.ts'
import { checked } from './checked.ts'
import { encodingOf } from './encoding.ts'
import { createSpanOps } from './ops.ts'
import { callOfSpan, type ShownResource } from './span-call.ts'
import * as wire from './wire.ts'

/** Spans of one request; exporters send some hundred and collectors some thousand at once. */
const SPANS_MAX = 50_000

/** Spans converted at once; other requests run between these batches. What was written stays written. */
const SPANS_PER_WRITE = 1000

/** Wire: the reply quotes the first of the reasons why spans were rejected. */
const MESSAGES_MAX = 20

/** OTLP: every span becomes a call. The same span again, or a child before its parent, ends in the same calls. */
export interface Otlp {
  exportTraces(req: { bytes: Uint8Array }, context: CallContext): Promise<RawReply>
}

export function createOtlp(deps: {
  calls: Pick<Calls, 'acceptParts'>
  objects: Objects
  files: Files
  redaction: Pick<Redaction, 'of'>
  peers: Pick<Peers, 'arePossible'>
}): Otlp {
  const ops = createSpanOps(deps)

  /** @throws 400 for a span that makes no call. */
  function taken({ span, resource, projectId }: PlacedSpan, user: string): TakenSpan {
    if (projectId === undefined) throw invalidRequest(NO_PROJECT)
    const call = callOfSpan(checked(wire.Span, span, 'a Span'), { project_id: projectId, resource })
    const op_name = ops.refOf(projectId, call.op_name)
    const start = startPart({ ...call, op_name }, user, [])
    return { projectId, opName: call.op_name, start, end: endPart(call, []) }
  }

  /** Publishes the ops of spans. Their names, which may hold anything, are redacted before that. */
  async function publishOps(projectId: string, spans: readonly TakenSpan[], user: string): Promise<void> {
    const names = spans.map(({ opName }) => opName)
    const redactor = await deps.redaction.of(projectId)
    const redacted = await redactor?.redact(names.map((text) => ({ form: 'text', text })))
    for (const [index, { start }] of redacted === undefined ? [] : spans.entries())
      start.op_name = ops.refOf(projectId, redacted?.[index] ?? '')
    await ops.publish(projectId, redacted ?? names, user)
  }

  /** Resolves with the reasons why spans were rejected. */
  async function write(spans: readonly PlacedSpan[], user: string): Promise<string[]> {
    const rejections: string[] = []
    const accepted: TakenSpan[] = []
    // A span with a long conversation takes some milliseconds.
    await inTurns(spans, (placed) => {
      try {
        accepted.push(taken(placed, user))
      } catch (error) {
        const fault = faultOf(error)
        if (fault === undefined) throw error
        rejections.push(rejection(placed.span, fault))
      }
    })
    for (const [projectId, own] of Map.groupBy(accepted, (span) => span.projectId))
      await publishOps(projectId, own, user)
    await deps.calls.acceptParts(accepted.flatMap(({ start, end }) => [start, end]))
    return rejections
  }

  async function exportTraces(req: { bytes: Uint8Array }, context: CallContext): Promise<RawReply> {
    const { decode, encode } = encodingOf(context.header('content-type'))
    const spans = placedSpans(decode(req.bytes), context)
    if (spans.length > 0 && spans.every(({ projectId }) => projectId === undefined))
      throw invalidRequest(NO_PROJECT)
    checkMayExport(placesOf(spans), req.bytes.byteLength, context)
    const rejections: string[] = []
    for (let at = 0; at < spans.length; at += SPANS_PER_WRITE)
      rejections.push(...(await write(spans.slice(at, at + SPANS_PER_WRITE), context.caller.user)))
    return encode(replyOf(rejections))
  }

  return { exportTraces }
}

/** The projects that spans name. */
function placesOf(spans: readonly PlacedSpan[]): Place[] {
  const projectIds = new Set(spans.flatMap(({ projectId }) => projectId ?? []))
  return [...projectIds].map(placeOf)
}

/** @throws 403, 429, 402 where an entity has no room */
function checkMayExport(places: readonly Place[], bytes: number, { caller, limits }: CallContext): void {
  for (const place of places) requireRight(caller.rights, 'ingest', place)
  for (const entity of new Set(places.map((place) => place.entity))) {
    limits?.forEntity(entity, bytes)
    limits?.stores(entity, bytes)
  }
}

const NO_PROJECT =
  'No project: send the header "project_id: ENTITY/PROJECT" or the resource attributes wandb.entity and wandb.project'

interface PlacedSpan {
  /** Not checked yet. */
  span: unknown
  resource: ShownResource
  /** `entity/project` */
  projectId: string | undefined
}

interface TakenSpan {
  projectId: string
  opName: string
  start: CallPart
  end: CallPart
}

/** Every span with its project: that of the request, or else that of its resource. @throws 413 for too many. */
function placedSpans(request: wire.ExportTraceServiceRequest, context: CallContext): PlacedSpan[] {
  const named = context.header('project_id')
  const placed: PlacedSpan[] = []
  for (const part of request.resourceSpans) {
    const { resource, scopeSpans } = checked(wire.ResourceSpans, part, 'a ResourceSpans')
    const attributes = treeOf(resource.attributes, 'flat')
    const projectId = named ?? projectOf(attributes, context.caller.defaultEntity)
    const shown = { attributes, dropped_attributes_count: resource.droppedAttributesCount }
    for (const scope of scopeSpans) {
      const { spans } = checked(wire.ScopeSpans, scope, 'a ScopeSpans')
      if (placed.length + spans.length > SPANS_MAX) throw tooLarge(`At most ${SPANS_MAX} spans at once`)
      for (const span of spans) placed.push({ span, resource: shown, projectId })
    }
  }
  return placed
}

function projectOf(resource: Tree, defaultEntity: string): string | undefined {
  const project = textOf(valueAt(resource, 'wandb.project'))
  const entity = textOf(valueAt(resource, 'wandb.entity')) ?? defaultEntity
  return project === undefined ? undefined : `${entity}/${project}`
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

function replyOf(rejections: readonly string[]): wire.ExportTraceServiceResponse {
  if (rejections.length === 0) return {}
  const shown = rejections.slice(0, MESSAGES_MAX)
  if (shown.length < rejections.length) shown.push('...')
  return { partialSuccess: { rejectedSpans: String(rejections.length), errorMessage: shown.join('; ') } }
}
