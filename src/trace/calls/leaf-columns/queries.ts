import type { Query } from '../../../stores/trace-db/port.ts'
import { createParams } from '../../query-language/params.ts'
import { LEAF_COLUMN_PREFIX, leafColumnName, leafColumnSql } from '../sql/leaf-column.ts'
import { CALL_ROWS } from '../sql/table.ts'

/** The table of what leaf columns are used for (migrations/trace/0009_leaf_uses.sql). */
export const LEAF_USES = 'leaf_uses'

/** A row of {@link LEAF_USES} as it is written. */
export interface LeafUse {
  path: string
  project_id: string
  /** ISO 8601 in UTC. */
  used_at: string
  /** 1 where the project gave the column up. */
  released: 0 | 1
}

/** A leaf column that exists. */
export interface ColumnRow {
  name: string
  path: string
  /** Whether every row has a value in it; without, the database computes the values of older rows as it reads them. */
  is_filled: 0 | 1
}

export interface UseRow {
  path: string
  project_id: string
  /** Seconds since the latest use. */
  age_s: number
  released: 0 | 1
}

const OF_CALLS = `database = currentDatabase() AND table = '${CALL_ROWS}'`

export function selectColumns(): Query {
  return {
    sql: `SELECT name, comment AS path, toUInt8(name IN (
        SELECT arrayJoin(arrayFilter(pair -> pair.2 = parts, columns)).1 FROM (
          SELECT groupArray((column, with_column)) AS columns, sumIf(with_column, column = 'id') AS parts FROM (
            SELECT column, count() AS with_column FROM system.parts_columns
            WHERE ${OF_CALLS} AND active AND (column = 'id' OR startsWith(column, '${LEAF_COLUMN_PREFIX}'))
            GROUP BY column))
      )) AS is_filled
      FROM system.columns WHERE ${OF_CALLS} AND startsWith(name, '${LEAF_COLUMN_PREFIX}')`,
    params: {},
  }
}

export function selectUses(): Query {
  return {
    sql: `SELECT path, project_id, dateDiff('second', used_at, now64(6)) AS age_s, released FROM ${LEAF_USES} FINAL`,
    params: {},
  }
}

export function addColumn(path: string): Query {
  return { sql: `ALTER TABLE ${CALL_ROWS} ADD COLUMN IF NOT EXISTS ${leafColumnSql(path)}`, params: {} }
}

/** Has the database fill a column for the rows that were written before it, in the background. */
export function fillColumn(path: string): Query {
  return { sql: `ALTER TABLE ${CALL_ROWS} MATERIALIZE COLUMN ${leafColumnName(path)}`, params: {} }
}

/** Work of {@link fillColumn} that has not ended. */
export function selectFilling(path: string): Query {
  const params = createParams()
  const name = params.bind(leafColumnName(path), 'String')
  return {
    sql: `SELECT count() AS count FROM system.mutations
      WHERE ${OF_CALLS} AND NOT is_done AND position(command, ${name}) > 0`,
    params: params.values,
  }
}

export function dropColumn(name: string): Query {
  return { sql: `ALTER TABLE ${CALL_ROWS} DROP COLUMN IF EXISTS ${name}`, params: {} }
}

/** About how many rows a project has, by the index of the table. */
export function selectProjectRows(projectId: string): Query {
  const params = createParams()
  const project = params.bindProject(projectId)
  return {
    sql: `EXPLAIN ESTIMATE SELECT 1 FROM ${CALL_ROWS} WHERE project_id = ${project}`,
    params: params.values,
  }
}
