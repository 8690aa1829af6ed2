import type { Query } from '../../stores/trace-db/port.ts'
import { STATUS, TRACE_NAME } from '../calls/sql/derived.ts'
import { selectionSql } from '../calls/sql/selected-calls.ts'
import type { Selection } from '../calls/sql/selection.ts'
import { PAYLOADS, type PayloadColumn, STORAGE_BYTES } from '../calls/sql/table.ts'
import { readablePayload, TRUNCATED_BYTES, truncatedColumn } from '../calls/sql/truncated.ts'
import { createParams, type Params } from '../query-language/params.ts'

/** Values at a path of calls, as JSON texts. */
export interface FieldRow {
  path: string
  count: number
  /** The first characters of the values, which determine their types. */
  initials: string[]
  /** Empty where every value is long. */
  example: string
  /** The count is an estimate: at most `error` of it are other values. */
  frequent: { item: string; count: number; error: number }[]
}

/** Which of the selected calls are read. */
export interface SampleRow {
  total: number
  /** Calls that are read. */
  sampled: number
  /** The oldest of the newest calls; ids rise with time. */
  newest_from: string
  /** Calls before it. */
  older: string[]
}

/**
 * Payloads of the newest calls that are read: all four of 20,000 calls of 2 kB take 0.5 s on two cores, one of 80,000
 * as much.
 */
const PAYLOADS_MAX = 80_000

/** They may be large, so they have a limit of their own, as the size of whole calls. */
const BYTES_MAX = 512 * 1024 * 1024

/**
 * Calls of each op that are read however old they are, so that fields of rare ops are found. Each may be alone in its
 * megabyte of the table.
 */
const CALLS_OF_OP = 100

/** Older calls of all ops together. */
const OLDER_MAX = 2000

/** Objects deeper than this count as values: their fields are better read one call at a time. */
const DEPTH_MAX = 6

/** Longer paths come from keys that are data. */
const PATH_BYTES_MAX = 500

/** Bytes of an example, which may be a list or an object. */
const EXAMPLE_BYTES_MAX = 2000

/** Up to this many different values of a field are counted exactly. */
const COUNTED_VALUES = 256

/** Rows whose payloads are in memory at once, on each core. */
const BLOCK_ROWS = 2048

/** Fields that are not in payloads but have values to choose from, by their names in queries. */
const COLUMNS: Readonly<Record<string, string>> = {
  'summary.weave.status': STATUS,
  'summary.weave.trace_name': TRACE_NAME,
  thread_id: `nullIf(thread_id, '')`,
  wb_user_id: `nullIf(wb_user_id, '')`,
  display_name: `nullIf(display_name, '')`,
  exception: `nullIf(exception, '')`,
}

/**
 * Chooses the sample of the selected calls: the newest, and some of each op. One row. @throws 4xx for a query of fields
 * that there are not
 */
export function selectSample(selection: Selection, prefix: string): Query {
  const params = createParams()
  const { where, from } = selectionSql(selection, params)
  const calls = Math.floor(PAYLOADS_MAX / Math.max(1, rootsOf(prefix).length))
  return {
    sql: `SELECT count() AS total, countIf(is_new) + length(older) AS sampled, minIf(id, is_new) AS newest_from,
        arrayMap(call -> call.2, arraySlice(arraySort(
          groupArrayIf((place, id), NOT is_new AND place <= ${CALLS_OF_OP})), 1, ${OLDER_MAX})) AS older
      FROM (
        SELECT id, row_number() OVER (PARTITION BY op_name ORDER BY id DESC) AS place,
          row_number() OVER newest <= ${calls} AND sum(bytes) OVER newest - bytes < ${BYTES_MAX} AS is_new
        FROM (SELECT id, op_name, ${STORAGE_BYTES} AS bytes FROM ${from()} WHERE ${where})
        WINDOW newest AS (ORDER BY id DESC ROWS UNBOUNDED PRECEDING)
      )`,
    params: params.values,
  }
}

/** The requested fields. */
export interface Asked {
  prefix: string
  limit: number
  values: number
}

/** The fields of the calls of a sample whose paths begin with `prefix`, the most frequent first. */
export function selectFields(selection: Selection, sample: SampleRow, asked: Asked): Query {
  const params = createParams()
  const { where, from } = selectionSql(selection, params)
  const { prefix, limit, values } = asked
  const members = rootsOf(prefix).map(membersOf)
  const leaves = columnLeaves(prefix)
  if (members.length > 0) leaves.push(leavesBelow(`arrayConcat(${members.join(', ')})`))
  const isRead = `(id >= ${params.bind(sample.newest_from, 'String')} OR id IN ${params.bindIds(sample.older)})`
  return {
    sql: `SELECT leaf.1 AS path, count() AS count, groupUniqArray(substring(leaf.2 AS json, 1, 1)) AS initials,
        anyIf(json, length(json) <= ${EXAMPLE_BYTES_MAX}) AS example, ${frequentSql(values)} AS frequent
      FROM (SELECT arrayJoin(arrayConcat(${leaves.join(', ')})) AS leaf FROM ${from()} WHERE ${where} AND ${isRead})
      WHERE ${isField(prefix, params)}
      GROUP BY path ORDER BY count DESC, path LIMIT ${params.bind(limit, 'UInt64')}
      SETTINGS max_block_size = ${BLOCK_ROWS}`,
    params: params.values,
  }
}

/** The most frequent values; a text in a truncated copy is whole if it is shorter than what those keep. */
function frequentSql(values: number): string {
  if (values === 0) return '[]'
  const isShort = `length(json) < ${TRUNCATED_BYTES + 2}`
  return `topKIf(${Math.trunc(values)}, ${Math.ceil(COUNTED_VALUES / values)}, 'counts')(json,
    ${isShort} AND substring(json, 1, 1) NOT IN ('[', '{'))`
}

/** The payloads that may have a path that begins so. */
function rootsOf(prefix: string): PayloadColumn[] {
  return PAYLOADS.filter((root) => root.startsWith(prefix) || prefix.startsWith(`${root}.`))
}

function columnLeaves(prefix: string): string[] {
  const asked = Object.entries(COLUMNS).filter(([path]) => path.startsWith(prefix))
  const pairs = asked.map(([path, sql]) => `('${path}', ifNull(toJSONString(${sql}), ''))`)
  return [`CAST([${pairs.join(', ')}], 'Array(Tuple(String, String))')`]
}

/** SQL for what is in a payload, pairs of a path and a JSON text: its members, or itself where it is no object. */
function membersOf(root: PayloadColumn): string {
  const truncated = truncatedColumn(root)
  const document = truncated === undefined ? readablePayload(root) : `assumeNotNull(${truncated})`
  const members = `JSONExtractKeysAndValuesRaw(${document})`
  // `summary.weave` is what the server derives, so a client's own value there is left out.
  const shown = root === 'summary' ? `arrayFilter(member -> member.1 != 'weave', ${members})` : members
  return `if(startsWith(${document}, '{'), ${below(`'${root}'`, shown)}, [('${root}', ${document})])`
}

/**
 * SQL for the leaves below pairs of a path and a JSON text. All payloads are expanded together, since functions take
 * time to plan.
 */
function leavesBelow(pairs: string): string {
  let leaves = pairs
  const children = below('leaf.1', 'JSONExtractKeysAndValuesRaw(leaf.2)')
  for (let depth = 1; depth < DEPTH_MAX; depth++)
    leaves = `arrayFlatten(arrayMap(leaf -> if(startsWith(leaf.2, '{') AND leaf.2 != '{}', ${children}, [leaf]), ${leaves}))`
  return leaves
}

/** Members under their paths, in which the dots of keys are escaped as `splitPath` reads them. */
function below(path: string, members: string): string {
  return `arrayMap(member -> (concat(${path}, '.', replaceAll(member.1, '.', '\\\\.')), member.2), ${members})`
}

/** SQL that is true for leaves that exist and can be queried: no step of a path is empty. */
function isField(prefix: string, params: Params): string {
  const isAsked = prefix === '' ? '1' : `startsWith(leaf.1, ${params.bind(prefix, 'String')})`
  return `leaf.2 NOT IN ('', 'null') AND length(leaf.1) <= ${PATH_BYTES_MAX}
    AND NOT match(leaf.1, '[^\\\\\\\\][.]([.]|$)') AND ${isAsked}`
}
