import { SqliteAdapter, sql } from 'kysely'
import type { ControlDb } from './port.ts'

/** A table as it is in the database. */
export interface StoredTable {
  name: string
  columns: string[]
  /** Columns of its primary key, in order; each table has one. */
  primaryKey: string[]
}

interface StoredColumn {
  table: string
  column: string
  /** Its place in the primary key, from 1; 0 for others. */
  key_place: number
}

const OF_SQLITE = sql<StoredColumn>`
  select t.name as "table", c.name as "column", c.pk as key_place
  from sqlite_master t join pragma_table_info(t.name) c
  where t.type = 'table' and t.name not like 'sqlite_%'
  order by t.name, c.name`

const OF_POSTGRES = sql<StoredColumn>`
  select c.table_name as "table", c.column_name as "column", coalesce(k.ordinal_position, 0) as key_place
  from information_schema.columns c
  left join information_schema.table_constraints p
    on p.table_schema = c.table_schema and p.table_name = c.table_name and p.constraint_type = 'PRIMARY KEY'
  left join information_schema.key_column_usage k
    on k.table_schema = p.table_schema and k.constraint_name = p.constraint_name
    and k.table_name = c.table_name and k.column_name = c.column_name
  where c.table_schema = current_schema()
  order by c.table_name, c.column_name`

/** The tables of a control database by name, those of its migrations included. */
export async function listTables(control: ControlDb): Promise<StoredTable[]> {
  const query = control.getExecutor().adapter instanceof SqliteAdapter ? OF_SQLITE : OF_POSTGRES
  const { rows } = await query.execute(control)
  const byName = Map.groupBy(rows, ({ table }) => table)
  return [...byName].map(([name, columns]) => ({
    name,
    columns: columns.map(({ column }) => column),
    primaryKey: columns
      .filter(({ key_place }) => key_place > 0)
      .sort((one, other) => one.key_place - other.key_place)
      .map(({ column }) => column),
  }))
}
