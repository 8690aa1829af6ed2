import { DISPLAY_NAME, ENDED_AT } from '../sql/derived.ts'
import { type PayloadColumn, STORAGE_BYTES } from '../sql/table.ts'

/** Members of calls that a list shows beside the columns that it always shows. */
export interface ShownColumns {
  payloads: readonly PayloadColumn[]
  storageSize: 'with' | 'without'
  /** Of a root's trace, from a column `trace_bytes` that a query adds. */
  totalStorageSize: 'with' | 'without'
  usernames: 'with' | 'without'
}

/**
 * How a column is shown: an empty `optional` text as null, an empty `omitted` one not at all. `count` is
 * `Nullable(UInt64)`.
 */
export type MemberForm = 'text' | 'optional' | 'omitted' | 'nullable' | 'time' | 'nullable time' | 'count'

export interface Member {
  name: string
  /** SQL, and its form; absent where no call has a value. */
  column?: { sql: string; form: MemberForm }
}

/** The members of a call that stand before its payloads, in the order in which they are written. */
export function callMembers({ storageSize, totalStorageSize, usernames }: ShownColumns): Member[] {
  return [
    stored('id', 'text'),
    stored('project_id', 'text'),
    stored('trace_id', 'text'),
    stored('op_name', 'text'),
    stored('started_at', 'time'),
    { name: 'display_name', column: { sql: DISPLAY_NAME, form: 'nullable' } },
    stored('parent_id', 'optional'),
    stored('thread_id', 'optional'),
    stored('turn_id', 'optional'),
    { name: 'ended_at', column: { sql: ENDED_AT, form: 'nullable time' } },
    stored('exception', 'nullable'),
    stored('wb_user_id', 'optional'),
    ...(usernames === 'with' ? [USERNAME] : []),
    stored('wb_run_id', 'optional'),
    stored('wb_run_step', 'count'),
    stored('wb_run_step_end', 'count'),
    { name: 'deleted_at' },
    { name: 'expire_at' },
    storageSize === 'with' ? CALL_SIZE : { name: CALL_SIZE.name },
    totalStorageSize === 'with' ? TRACE_SIZE : { name: TRACE_SIZE.name },
  ]
}

function stored(name: string, form: MemberForm): Member {
  return { name, column: { sql: name, form } }
}

const USERNAME: Member = { name: 'wb_username', column: { sql: 'wb_user_id', form: 'omitted' } }

const CALL_SIZE: Member = {
  name: 'storage_size_bytes',
  column: { sql: `toNullable(${STORAGE_BYTES})`, form: 'count' },
}

const TRACE_SIZE: Member = {
  name: 'total_storage_size_bytes',
  column: { sql: `if(parent_id = '', trace_bytes, NULL)`, form: 'count' },
}

/** The JSON of an absent payload. */
export const ABSENT: Record<PayloadColumn, string> = {
  attributes: '{}',
  inputs: '{}',
  output: 'null',
  summary: '{}',
}

/** SQL for the text of a payload. */
export function payloadSql(column: PayloadColumn, { payloads }: Pick<ShownColumns, 'payloads'>): string {
  return payloads.includes(column) ? `ifNull(${column}, '${ABSENT[column]}')` : `'${ABSENT[column]}'`
}
