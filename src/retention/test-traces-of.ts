import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { rowsOf, type TraceDb } from '../stores/trace-db/port.ts'

/** Names of the files below a folder that contain a text. Files of the database are compressed, but for what is unique in them. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    // Files come and go while the server runs.
    const bytes = await readFile(path).catch(() => Buffer.of())
    if (bytes.includes(text)) found.push(relative(folder, path))
  }
  return found
}

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
