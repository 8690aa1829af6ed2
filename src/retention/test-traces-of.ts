import { rowsOf, type TraceDb } from '../stores/trace-db/port.ts'

/** Tables of the trace database with a row that contains a text in any column, also below a mark of NULL. */
export async function tablesWith(traces: TraceDb, text: string): Promise<string[]> {
  const columns = await rowsOf(
    traces.query<{ table: string; name: string; type: string }>({
      sql: `SELECT table, name, type FROM system.columns WHERE database = currentDatabase()`,
      params: {},
    }),
  )
  const found: string[] = []
  for (const [table, some] of Map.groupBy(columns, (column) => column.table)) {
    const texts = some
      .filter(({ type }) => type.includes('String'))
      .map(({ name, type }) => (type.includes('Nullable') ? `assumeNotNull(${name})` : `toString(${name})`))
    if (texts.length === 0) continue
    const sql = `SELECT count() AS count FROM ${table} WHERE ${texts.map((one) => `position(${one}, {text:String}) > 0`).join(' OR ')}`
    const [row] = await rowsOf(traces.query<{ count: number }>({ sql, params: { text } }))
    if ((row?.count ?? 0) > 0) found.push(table)
  }
  return found
}
