import type { KeptCall } from './kept-call.ts'

/** Calls in memory by the ids of their traces. */
export interface CallsByTrace {
  /** To be called when a call has got a trace, or another one than `before`. */
  moved(call: KeptCall, before: string | undefined): void
  remove(call: KeptCall): void
  /** In no order. */
  of(traceId: string): KeptCall[]
}

export function createCallsByTrace(): CallsByTrace {
  const byTrace = new Map<string, Set<KeptCall>>()

  function join(call: KeptCall, traceId: string): void {
    const known = byTrace.get(traceId)
    if (known === undefined) byTrace.set(traceId, new Set([call]))
    else known.add(call)
  }

  function leave(call: KeptCall, traceId: string): void {
    const known = byTrace.get(traceId)
    known?.delete(call)
    if (known?.size === 0) byTrace.delete(traceId)
  }

  return {
    moved(call, before) {
      if (before !== undefined) leave(call, before)
      if (call.texts.trace_id !== undefined) join(call, call.texts.trace_id)
    },
    remove(call) {
      if (call.texts.trace_id !== undefined) leave(call, call.texts.trace_id)
    },
    of: (traceId) => [...(byTrace.get(traceId) ?? [])],
  }
}
