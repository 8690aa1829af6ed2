import type { Query } from '../../stores/trace-db/port.ts'
import { ENDED_AT } from '../calls/fields.ts'
import { conditions, type Selection, VISIBLE } from '../calls/selection.ts'
import { jsonLeaf } from '../query-language/json-path.ts'
import { createParams } from '../query-language/params.ts'

/** What places a trial: its example as text where it is one, otherwise the inputs in which it is. */
export interface PlaceRow {
  id: string
  root: string
  started_at: string
  bytes: number
  is_text: 0 | 1
  example: string
}

export function selectPlaces(selection: Selection): Query {
  const params = createParams()
  return {
    sql: `SELECT id, parent_id AS root, started_at, start_bytes + end_bytes AS bytes,
        JSONType(assumeNotNull(inputs), 'example') = 'String' AS is_text,
        if(is_text, JSONExtractString(assumeNotNull(inputs), 'example'), assumeNotNull(inputs)) AS example
      FROM calls FINAL WHERE ${conditions(selection, params)}`,
    params: params.values,
  }
}

/** A row of a dataset with its trials, and how many rows there are. */
export interface PlacedRowRow {
  digest: string
  ref: string
  trials: [id: string, root: string, started_at: string, bytes: number][]
  total: number
  /** Whether there are examples that are no rows of datasets. */
  has_others: 0 | 1
}

/** Some of the rows, in the order of their digests, which are the ends of refs; of other examples '' stands for all. */
export function selectPlacedRows(selection: Selection, page: { limit: number; offset: number }): Query {
  const params = createParams()
  const { limit, offset } = page
  return {
    sql: `SELECT digest, any(example) AS ref, groupArray((id, root, started_at, bytes)) AS trials,
        count() OVER () AS total, min(digest) OVER () = '' AS has_others
      FROM (
        SELECT id, parent_id AS root, started_at, start_bytes + end_bytes AS bytes,
          JSONExtractString(assumeNotNull(inputs), 'example') AS example,
          if(startsWith(example, 'weave:'), extract(example, '/attr/rows/id/([^/]+)$'), '') AS digest
        FROM calls FINAL WHERE ${conditions(selection, params)}
      )
      GROUP BY digest ORDER BY digest LIMIT ${params.bind(offset, 'UInt64')}, ${params.bind(limit, 'UInt64')}`,
    params: params.values,
  }
}

/** The leaf at a path below a payload of each trial. */
export function selectLeaves(
  selection: Selection,
  column: 'inputs' | 'output',
  steps: readonly string[],
): Query {
  const params = createParams()
  const leaf = jsonLeaf(column, steps, params)
  return {
    sql: `SELECT id, ${leaf} AS leaf FROM calls FINAL WHERE ${conditions(selection, params)}`,
    params: params.values,
  }
}

/** What a trial says; `model` tells whether a call below it is that model's. */
export interface TrialRow {
  id: string
  output: string
  usage: string
  model: string
  model_hash: string
  /** The inputs in which the example is; empty where that was not asked for. */
  example_in: string
}

export function selectTrials(projectId: string, ids: readonly string[], inputs: 'with' | 'without'): Query {
  const params = createParams()
  return {
    sql: `SELECT id, ifNull(output, 'null') AS output, ${USAGE} AS usage,
        JSONExtractString(assumeNotNull(inputs), 'model') AS model, ${hashOf('model')} AS model_hash,
        ${inputs === 'with' ? 'assumeNotNull(inputs)' : "''"} AS example_in
      FROM calls FINAL WHERE project_id = ${params.bind(projectId, 'String')} AND ${VISIBLE}
        AND id IN ${params.bindIds(ids)}`,
    params: params.values,
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
}

/** What is below trials: who that is is found among parts as they lie there, which is many times as fast as merging all. */
export function selectChildren(projectId: string, trialIds: readonly string[]): Query {
  const params = createParams()
  const project = params.bind(projectId, 'String')
  return {
    sql: `SELECT id, parent_id AS trial, op_name, started_at, ${ENDED_AT} AS ended_at, ${USAGE} AS usage,
        JSONExtractString(assumeNotNull(attributes), 'weave', 'score') = 'true'
          OR JSONType(assumeNotNull(attributes), '_weave_eval_meta', 'score') != 'Null'
            AND JSONExtractRaw(assumeNotNull(attributes), '_weave_eval_meta', 'score') != 'false' AS is_score,
        ${hashOf('self')} AS self_hash,
        JSONExtractRaw(assumeNotNull(attributes), 'weave', 'genai_span_ref') AS spans
      FROM calls FINAL WHERE project_id = ${project} AND ${VISIBLE} AND id IN (
        SELECT id FROM calls WHERE project_id = ${project} AND parent_id IN ${params.bindIds(trialIds)}
      ) ORDER BY started_at, id`,
    params: params.values,
  }
}

const USAGE = `JSONExtractRaw(assumeNotNull(summary), 'usage')`

/** Models may be long values of their own, of which only the sameness matters. */
function hashOf(member: 'self' | 'model'): string {
  return `hex(sipHash128(JSONExtractRaw(assumeNotNull(inputs), '${member}')))`
}
