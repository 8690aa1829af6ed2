/**
 * The `calls` table (migrations/trace/0001_initial.sql), for every query of it.
 *
 * A call is written in parts, each a row: its start, its end, a new name, its deletion. The database merges rows of one
 * (`project_id`, `id`) column by column, in any order and any number of times (docs/decisions/0002-call-parts.md):
 * - payloads, `display_name`, `exception` and steps: a value that is not NULL;
 * - all other texts, numbers and times: the greatest value, so that what a row leaves out ('', 0, {@link NEVER}) never
 * wins;
 * - refs: all of them.
 */
export interface CallRow {
  project_id: string
  id: string
  /** In the row of a start. */
  has_start?: 1 | undefined
  trace_id?: string | undefined
  /** '' for a root, and likewise for other texts that a call does not have. */
  parent_id?: string | undefined
  thread_id?: string | undefined
  turn_id?: string | undefined
  op_name?: string | undefined
  /** NULL where none was ever given, '' where it was removed. */
  display_name?: string | undefined
  /** Times are ISO 8601 in UTC with microseconds. */
  started_at?: string | undefined
  ended_at?: string | undefined
  deleted_at?: string | undefined
  exception?: string | undefined
  /** Failed calls below this one, as its client counted them. */
  error_count?: number | undefined
  wb_user_id?: string | undefined
  wb_run_id?: string | undefined
  wb_run_step?: number | undefined
  wb_run_step_end?: number | undefined
  /** Payloads are JSON texts as their client wrote them. */
  attributes?: string | undefined
  inputs?: string | undefined
  /** The truncated copy (`truncated.ts`); the payload itself where a row leaves it out. */
  inputs_excerpt?: string | undefined
  output?: string | undefined
  output_excerpt?: string | undefined
  summary?: string | undefined
  /** Refs within the payload. */
  input_refs?: readonly string[] | undefined
  output_refs?: readonly string[] | undefined
}

/** The table to read calls from as they are: merged. */
export const MERGED_CALLS = 'calls FINAL'

/**
 * The table to read rows from as they were written, which takes a fraction of the time. One row has the columns of its
 * own part only, a part that was sent twice may be two rows, and rows of deleted calls are among them.
 */
export const CALL_ROWS = 'calls'

/** What a time in the table is while it is not known. */
export const NEVER = "'1900-01-01 00:00:00'"

/** True for merged calls that are shown: not deleted, and started, since an end may come before its start. */
export const VISIBLE = `has_start = 1 AND deleted_at = ${NEVER}`

/** Bytes of a call's payloads. */
export const STORAGE_BYTES = 'start_bytes + end_bytes'

export type PayloadColumn = 'attributes' | 'inputs' | 'output' | 'summary'
export const PAYLOADS: readonly PayloadColumn[] = ['attributes', 'inputs', 'output', 'summary']

/** The payload that a name means. Wire: `inputs_dump` is another name of `inputs`, and so on. */
export function payloadNamed(name: string): PayloadColumn | undefined {
  return PAYLOADS.find((payload) => payload === name || `${payload}_dump` === name)
}

/** The payloads whose words are indexed (migrations/trace/0008_word_indexes.sql). */
export const WORD_INDEXED: ReadonlySet<PayloadColumn> = new Set(['inputs', 'output'])
