import { sql } from 'kysely'
import type { ErasedUser } from '../../removal.ts'
import type { ControlTx } from './port.ts'
import type { ControlTables } from './tables.ts'

/** Columns with names of users, by table. */
type UserColumns = {
  [Table in keyof ControlTables]?: readonly (keyof ControlTables[Table] & string)[]
}

/** Puts the pseudonym of an erased user into these columns, where they have the user's name. */
export async function renameUserIn(
  tx: ControlTx,
  columns: UserColumns,
  { name, pseudonym }: ErasedUser,
): Promise<void> {
  for (const [table, names] of Object.entries(columns)) {
    for (const column of names) {
      const [where, to] = [sql.table(table), sql.ref(column)]
      await sql`update ${where} set ${to} = ${pseudonym} where ${to} = ${name}`.execute(tx)
    }
  }
}
