import { type Place, placeOf, requireRight } from '../../access.ts'
import { projectIdInHeader } from '../../accounts/project-name.ts'
import { invalidRequest } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import type { RawReply } from '../../http/route.ts'
import type { Redaction } from '../../redaction/service.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { Calls } from '../calls/service.ts'
import type { Files } from '../files/service.ts'
import type { Objects } from '../objects/service.ts'
import { type Conversion, type ConvertedSpan, NO_PROJECT } from './conversion.ts'
import { encodingOf } from './encoding.ts'
import { createSpanOps } from './ops.ts'
import { runConversion } from './run-conversion.ts'
import type * as wire from './wire.ts'

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

  /**
   * Publishes the ops of spans of one project and names them in the rows. The names of spans, which may hold anything,
   * are redacted before that.
   */
  async function nameOps(projectId: string, spans: readonly ConvertedSpan[], user: string): Promise<void> {
    const names = spans.map(({ spanName }) => spanName)
    const redactor = await deps.redaction.of(projectId)
    const shown = (await redactor?.redact(names.map((text) => ({ form: 'text', text })))) ?? names
    for (const [index, { start }] of spans.entries()) start.op_name = ops.refOf(projectId, shown[index] ?? '')
    await ops.publish(projectId, shown, user)
  }

  async function write(spans: readonly ConvertedSpan[], user: string): Promise<void> {
    for (const [projectId, own] of Map.groupBy(spans, (span) => span.projectId))
      await nameOps(projectId, own, user)
    await deps.calls.acceptParts(spans.flatMap(({ start, end }) => [start, end]))
  }

  async function exportTraces({ bytes }: { bytes: Uint8Array }, context: CallContext): Promise<RawReply> {
    const contentType = context.header('content-type')
    const { encode } = encodingOf(contentType)
    const { user, defaultEntity } = context.caller
    const named = context.header('project_id')
    const { lists, ...conversion } = await runConversion({
      bytes,
      contentType,
      projectId: named === undefined ? undefined : projectIdInHeader(named),
      defaultEntity,
      user,
    })
    if (conversion.projectIds.length === 0 && conversion.rejected > 0) throw invalidRequest(NO_PROJECT)
    checkMayExport(conversion.projectIds.map(placeOf), bytes.byteLength, context)
    // What was written stays written.
    for (const spans of lists) await write(spans, user)
    return encode(replyOf(conversion))
  }

  return { exportTraces }
}

/** @throws 403, 429, 402 where an entity has no room */
function checkMayExport(places: readonly Place[], bytes: number, { caller, limits }: CallContext): void {
  for (const place of places) requireRight(caller.rights, 'ingest', place)
  for (const entity of new Set(places.map((place) => place.entity))) {
    limits?.forEntity(entity, bytes)
    limits?.stores(entity, bytes)
  }
}

function replyOf({
  rejected,
  reasons,
}: Pick<Conversion, 'rejected' | 'reasons'>): wire.ExportTraceServiceResponse {
  if (rejected === 0) return {}
  const shown = rejected > reasons.length ? [...reasons, '...'] : reasons
  return { partialSuccess: { rejectedSpans: String(rejected), errorMessage: shown.join('; ') } }
}
