import type { Kysely } from 'kysely'

interface Tables {
  usage_limits: { updated_by: string; by_operator: number }
  users: { name: string; is_operator: number }
}

/** Whether an operator stored limits: only those of a key may be more than the settings of the server let keys have. */
export async function up(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('usage_limits')
    .addColumn('by_operator', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
  const operators = db.selectFrom('users').select('name').where('is_operator', '=', 1)
  await db.updateTable('usage_limits').set({ by_operator: 1 }).where('updated_by', 'in', operators).execute()
}
