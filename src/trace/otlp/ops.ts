import type { Peers } from '../../stores/control-db/peers.ts'
import type { Files } from '../files/service.ts'
import { createPlaceholderOps } from '../objects/placeholder-ops.ts'
import { OBJECT_ID_CHARS_MAX } from '../objects/publisher.ts'
import { safeName, startOfName } from '../objects/safe-name.ts'
import type { Objects } from '../objects/service.ts'

/** Enough for the span names of many projects, which are chosen by clients. */
const SEEN_MAX = 100_000

/** Wire: the op of a span is an object named like the span. */
export interface SpanOps {
  refOf(projectId: string, spanName: string): string
  publish(projectId: string, spanNames: readonly string[], user: string): Promise<void>
}

export function createSpanOps(deps: {
  objects: Objects
  files: Files
  peers: Pick<Peers, 'arePossible'>
}): SpanOps {
  const why = 'traced with OpenTelemetry, which captures no code'
  const ops = createPlaceholderOps(deps, { why, seenMax: SEEN_MAX })
  return {
    refOf: (projectId, spanName) => ops.refOf(projectId, objectNameOf(spanName)),
    publish: (projectId, spanNames, user) => ops.publish(projectId, spanNames.map(objectNameOf), user),
  }
}

/** A name that an object may have, whatever the span is called. */
function objectNameOf(spanName: string): string {
  return startOfName(safeName(spanName), OBJECT_ID_CHARS_MAX) || 'unknown'
}
