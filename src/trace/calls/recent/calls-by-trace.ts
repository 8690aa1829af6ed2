import type { KeptCall } from './kept-call.ts'

/** Calls in memory by the ids of their traces. */
export interface CallsByTrace {
  /** To be called when a call has got a trace, or another one than `before`. */
  moved(call: KeptCall, before: string | undefined): void
  remove(call: KeptCall): void
  /** In no order; to be read before calls join or leave. */
  of(traceId: string): Iterable<KeptCall>
}

export function createCallsByTrace(): CallsByTrace {
  /** Most traces of some projects have one call, for which a set takes more memory than all of its texts. */
  const byTrace = new Map<string, KeptCall | Set<KeptCall>>()

  function join(call: KeptCall, traceId: string): void {
    const known = byTrace.get(traceId)
    if (known === undefined) byTrace.set(traceId, call)
    else if (known instanceof Set) known.add(call)
    else byTrace.set(traceId, new Set([known, call]))
  }

  function leave(call: KeptCall, traceId: string): void {
    const known = byTrace.get(traceId)
    if (known instanceof Set) known.delete(call)
    if (known === call || (known instanceof Set && known.size === 0)) byTrace.delete(traceId)
  }

  return {
    moved(call, before) {
      if (before !== undefined) leave(call, before)
      if (call.texts.trace_id !== undefined) join(call, call.texts.trace_id)
    },
    remove(call) {
      if (call.texts.trace_id !== undefined) leave(call, call.texts.trace_id)
    },
    of(traceId) {
      const known = byTrace.get(traceId)
      if (known === undefined) return []
      return known instanceof Set ? known : [known]
    },
  }
}
