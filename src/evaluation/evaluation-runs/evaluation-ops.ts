import type { Peers } from '../../stores/control-db/peers.ts'
import type { Files } from '../../trace/files/service.ts'
import { createPlaceholderOps, type PlaceholderOps } from '../../trace/objects/placeholder-ops.ts'
import { OBJECT_ID_CHARS_MAX } from '../../trace/objects/publisher.ts'
import { onlyNameCharacters, startOfName } from '../../trace/objects/safe-name.ts'
import type { Objects } from '../../trace/objects/service.ts'

/** Enough for the evaluations of many projects, each of which has few ops. */
const SEEN_MAX = 10_000

export type EvaluationOps = PlaceholderOps

/** The ops of evaluations that clients log step by step: the code is on the client. */
export function createEvaluationOps(deps: {
  objects: Objects
  files: Files
  peers: Pick<Peers, 'arePossible'>
}): EvaluationOps {
  return createPlaceholderOps(deps, { why: 'logged over HTTP, without source code', seenMax: SEEN_MAX })
}

/** The name of the op of a model or a scorer: a valid op name, whatever the object is called. */
export function methodName(owner: string, method: string): string {
  const start = startOfName(onlyNameCharacters(owner), OBJECT_ID_CHARS_MAX - method.length - 1)
  return `${start || 'Model'}.${method}`
}
