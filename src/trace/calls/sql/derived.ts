import { NEVER } from './table.ts'

/** What the server derives of a call: as SQL over a merged call, and for a call that has been read. */

/** NULL while the call runs. */
export const ENDED_AT = `nullIf(ended_at, ${NEVER})`

/** Whole milliseconds, rounded down; NULL while the call runs. */
export const LATENCY_MS = `toInt64(floor(dateDiff('microsecond', started_at, ${ENDED_AT}) / 1000))`

/** NULL where no name was given, or it was removed. */
export const DISPLAY_NAME = `nullIf(display_name, '')`

/** The op's name for people: the object name of an op ref, or the text itself. */
const OP_SHORT_NAME = `if(startsWith(op_name, 'weave:///'), extract(op_name, '^weave:///[^/]+/[^/]+/op/([^:/]+)'), op_name)`

/** {@link OP_SHORT_NAME} of a call that has been read. */
export function opShortName(opName: string): string {
  return /^weave:\/\/\/[^/]+\/[^/]+\/op\/([^:/]+)/.exec(opName)?.[1] ?? opName
}

/** The call's name for people. */
export const TRACE_NAME = `ifNull(${DISPLAY_NAME}, ${OP_SHORT_NAME})`

/** Wire: an empty exception counts as none. */
export const STATUS = `multiIf(ifNull(exception, '') != '', 'error', ended_at = ${NEVER}, 'running', error_count > 0, 'descendant_error', 'success')`

/** {@link STATUS} of a call that has been read. */
export function statusOf(call: {
  exception: string | null
  endedAt: string | null
  errorCount: number
}): string {
  if (call.exception) return 'error'
  if (call.endedAt === null) return 'running'
  return call.errorCount > 0 ? 'descendant_error' : 'success'
}
