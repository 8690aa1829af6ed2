import type { BinaryQuery, Query } from '../../stores/trace-db/port.ts'
import { ENDED_AT } from '../../trace/calls/sql/derived.ts'
import { filterSql, startRowsSql } from '../../trace/calls/sql/filter.ts'
import type { Selection } from '../../trace/calls/sql/selection.ts'
import { CALL_ROWS, MERGED_CALLS, NEVER, STORAGE_BYTES, VISIBLE } from '../../trace/calls/sql/table.ts'
import { readablePayload } from '../../trace/calls/sql/truncated.ts'
import { jsonLeaf } from '../../trace/query-language/json-path.ts'
import { createParams, type Params } from '../../trace/query-language/params.ts'

/**
 * The position of each trial, as rows of: id, evaluation, start, bytes of payloads, the example where it is a ref and
 * otherwise '', the inputs with any other example and otherwise ''.
 */
export function selectTrialPositions(selection: Selection): BinaryQuery {
  const params = createParams()
  return {
    sql: `WITH JSONExtractString(${INPUTS}, 'example') AS example, startsWith(example, 'weave:') AS is_ref
      SELECT id, parent_id, started_at, ${STORAGE_BYTES},
        if(is_ref, example, ''), if(is_ref, '', assumeNotNull(inputs))
      FROM ${MERGED_CALLS} WHERE ${filterSql(selection, params)}`,
    params: params.values,
    columns: ['String', 'String', 'DateTime64(6)', 'UInt64', 'String', 'String'],
  }
}

/** A row of a dataset with its trials, perhaps with duplicates, and the number of rows. */
export interface RowPageRow {
  digest: string
  ids: string[]
  total: number
  /** Whether there are examples that are not rows of datasets. */
  has_others: 0 | 1
}

/**
 * Some of the rows, in the order of their digests, which are the ends of refs; of other examples '' stands for all. The
 * start part of a trial determines its row, and is read unmerged: merging all parts of all trials takes twice as long.
 */
export function selectRowPage(selection: Selection, page: { limit: number; offset: number }): Query {
  const params = createParams()
  const { limit, offset } = page
  const project = params.bindProject(selection.project_id)
  return {
    sql: `SELECT digest, groupArray(id) AS ids, count() OVER () AS total, min(digest) OVER () = '' AS has_others
      FROM (
        SELECT id, JSONExtractString(${INPUTS}, 'example') AS example,
          if(startsWith(example, 'weave:'), extract(example, '/attr/rows/id/([^/]+)$'), '') AS digest
        FROM ${CALL_ROWS} WHERE ${startRowsSql(selection, params)}
          AND id NOT IN (SELECT id FROM ${CALL_ROWS} WHERE project_id = ${project} AND deleted_at > ${NEVER})
      )
      GROUP BY digest ORDER BY digest LIMIT ${params.bind(offset, 'UInt64')}, ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** Rows are sorted by so much of a text: a million trials may have long ones. */
const SORTED_CHARS_MAX = 500

/** The leaf at a path below a payload of each trial, or its beginning, as rows of: id, leaf. */
export function selectLeaves(
  selection: Selection,
  column: 'inputs' | 'output',
  steps: readonly string[],
): BinaryQuery {
  const params = createParams()
  const leaf = jsonLeaf(readablePayload(column), steps, params)
  return {
    sql: `SELECT id, leftUTF8(${leaf}, ${SORTED_CHARS_MAX}) FROM ${MERGED_CALLS} WHERE ${filterSql(selection, params)}`,
    params: params.values,
    columns: ['String', 'Nullable(String)'],
  }
}

/** Output of a trial; `model` identifies calls of that model below it. */
export interface TrialRow {
  id: string
  root: string
  started_at: string
  output: string
  usage: string
  model: string
  model_hash: string
  /** The inputs in which the example is; empty where that was not asked for. */
  example_in: string
  exception: string
}

export function selectTrials(projectId: string, ids: readonly string[], inputs: 'with' | 'without'): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `SELECT id, parent_id AS root, started_at, ifNull(output, 'null') AS output, ${USAGE} AS usage,
        ${MODEL} AS model, ${hashOf('model')} AS model_hash,
        ${inputs === 'with' ? 'assumeNotNull(inputs)' : "''"} AS example_in, ${EXCEPTION} AS exception
      FROM ${callsAmong(project, params.bindIds(ids))}`,
    params: params.values,
  }
}

/** Columns for the summary of all selected trials, as rows of: id, scores as JSON, start, usage, model, its hash. */
export function selectScores(selection: Selection): BinaryQuery {
  const params = createParams()
  const project = params.bindProject(selection.project_id)
  return {
    sql: `SELECT id, JSONExtractRaw(${OUTPUT}, 'scores'), started_at, ${USAGE}, ${MODEL}, ${hashOf('model')}
      FROM ${callsAmong(project, startsSql(selection, params))}`,
    params: params.values,
    columns: ['String', 'String', 'DateTime64(6)', 'String', 'String', 'String'],
  }
}

/** A call below a trial, without its payloads. */
export interface ChildRow {
  id: string
  trial: string
  op_name: string
  started_at: string
  ended_at: string | null
  is_score: 0 | 1
  self_hash: string
  usage: string
  spans: string
  exception: string
}

/** Calls below trials, in the order in which they began. */
export function selectChildren(projectId: string, trialIds: readonly string[]): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `SELECT id, parent_id AS trial, op_name, started_at, ${ENDED_AT} AS ended_at, ${USAGE} AS usage,
        ${IS_SCORE} AS is_score, ${hashOf('self')} AS self_hash,
        JSONExtractRaw(${ATTRIBUTES}, 'weave', 'genai_span_ref') AS spans, ${EXCEPTION} AS exception
      FROM ${callsAmong(project, belowSql(project, params.bindIds(trialIds)))} ORDER BY started_at, id`,
    params: params.values,
  }
}

/**
 * Calls below all selected trials that are not scores, in the order in which they began, as rows of: trial, op, hash of
 * the model, start, usage.
 */
export function selectAnswers(selection: Selection): BinaryQuery {
  const params = createParams()
  const project = params.bindProject(selection.project_id)
  return {
    sql: `SELECT parent_id, op_name, ${hashOf('self')}, started_at, ${USAGE}
      FROM ${callsAmong(project, belowSql(project, startsSql(selection, params)))} AND NOT ${IS_SCORE}
      ORDER BY started_at, id`,
    params: params.values,
    columns: ['String', 'String', 'String', 'DateTime64(6)', 'String'],
  }
}

/** The selected trials with an error: of their own, or of a call directly below them, perhaps with duplicates. */
export function selectErrors(selection: Selection): Query {
  const params = createParams()
  const project = params.bindProject(selection.project_id)
  const trials = startsSql(selection, params)
  return {
    sql: `SELECT id AS trial FROM ${callsAmong(project, trials)} AND ${EXCEPTION} != ''
      UNION ALL
      SELECT parent_id AS trial FROM ${callsAmong(project, belowSql(project, trials))} AND ${EXCEPTION} != ''`,
    params: params.values,
  }
}

/** SQL for the merged calls among ids. */
function callsAmong(project: string, ids: string): string {
  return `${MERGED_CALLS} WHERE project_id = ${project} AND id IN ${ids} AND ${VISIBLE}`
}

/** SQL for the ids of trials by their start parts, which may belong to deleted ones. */
function startsSql(selection: Selection, params: Params): string {
  return `(SELECT id FROM ${CALL_ROWS} WHERE ${startRowsSql(selection, params)})`
}

/** More ids than this are not looked up in an index: preparing that takes longer than reading the column. */
const INDEXED_IDS_MAX = 1000

/** SQL for the ids of calls below trials; found among unmerged parts, which is many times as fast as merging all. */
function belowSql(project: string, trialIds: string): string {
  return `(SELECT id FROM ${CALL_ROWS} WHERE project_id = ${project} AND parent_id IN ${trialIds}
    SETTINGS use_index_for_in_with_subqueries_max_values = ${INDEXED_IDS_MAX})`
}

const INPUTS = readablePayload('inputs')
const OUTPUT = readablePayload('output')
const SUMMARY = readablePayload('summary')
const ATTRIBUTES = readablePayload('attributes')

const EXCEPTION = `ifNull(exception, '')`

const USAGE = `JSONExtractRaw(${SUMMARY}, 'usage')`

const MODEL = `JSONExtractString(${INPUTS}, 'model')`

/** Whether a call is marked as a score; most attributes are not even parsed. */
const IS_SCORE = `(position(assumeNotNull(attributes), '"score"') > 0 AND (
  JSONExtractString(${ATTRIBUTES}, 'weave', 'score') = 'true'
    OR JSONType(${ATTRIBUTES}, '_weave_eval_meta', 'score') != 'Null'
      AND JSONExtractRaw(${ATTRIBUTES}, '_weave_eval_meta', 'score') != 'false'))`

/** Models may be long values, which are only compared for equality. */
function hashOf(member: 'self' | 'model'): string {
  return `hex(sipHash128(JSONExtractRaw(${INPUTS}, '${member}')))`
}
