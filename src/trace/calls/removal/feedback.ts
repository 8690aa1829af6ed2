import type { Removal } from '../../../removal.ts'
import { changeByKeys } from '../../../stores/trace-db/keyed-changes.ts'
import type { Mutations } from '../../../stores/trace-db/mutations.ts'
import { firstOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import * as queries from './queries.ts'

/**
 * Removes the feedback on calls that are too old, which quotes them. It goes before its call, by which it is found.
 * What came when its call had gone, or is on a call that was never sent, goes once it is as old itself.
 */
export function createCallFeedbackRemoval({
  traces,
  mutations,
}: {
  traces: Pick<TraceDb, 'query'>
  mutations: Mutations
}): Removal {
  const mark = ({ where, params }: queries.Condition, signal: AbortSignal): Promise<void> =>
    mutations.markDeleted(queries.FEEDBACK, where, params, signal)

  return {
    expire: {
      async calls(cutoffs, signal) {
        const found = (calls: readonly queries.CallKey[]) => mark(queries.feedbackOn(calls), signal)
        await changeByKeys(traces, queries.selectOldCallsWithFeedback(cutoffs), found, signal)
        const old = await firstOf(traces.query<{ count: number }>(queries.countOldFeedback(cutoffs)))
        if (old !== undefined && old.count > 0) await mark(queries.oldFeedback(cutoffs), signal)
      },
    },
  }
}
