import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { createTestAccounts } from '../../accounts/test-accounts.ts'
import { replyOf, useTestServer } from '../../testing.ts'

const server = useTestServer({ auth: 'keys' })
const accounts = createTestAccounts(server)

const NAME = 'leaver'

/** Tables of the trace database are rewritten too, one after the other. */
const RENAMED_MS_MAX = 300_000

/**
 * Columns of the control database that say by whom something was done, with a row for each table in which all of them
 * do.
 */
async function fillColumns(): Promise<[table: string, column: string][]> {
  const { control } = server.stores
  const found: [string, string][] = []
  for (const { name: table, columns } of await control.introspection.getTables()) {
    const naming = columns.filter(({ name }) => name.endsWith('_by')).map(({ name }) => name)
    if (naming.length === 0) continue
    const values = columns.map(({ name, dataType }) =>
      naming.includes(name) ? sql.lit(NAME) : sql.lit(dataType.toLowerCase() === 'text' ? '{}' : 1),
    )
    const names = columns.map(({ name }) => sql.ref(name))
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) values (${sql.join(values)})`.execute(
      control,
    )
    found.push(...naming.map((column): [string, string] => [table, column]))
  }
  return found
}

async function namedIn([table, column]: [string, string]): Promise<string[]> {
  const { rows } = await sql<{
    name: string
  }>`select ${sql.ref(column)} as name from ${sql.table(table)}`.execute(server.stores.control)
  return rows.some(({ name }) => name === NAME) ? [`${table}.${column}`] : []
}

it(
  'no column that says by whom something was done keeps the name of an erased user',
  async () => {
    const operator = await accounts.operator()
    await accounts.newUser(NAME)
    const columns = await fillColumns()
    expect(columns.map((column) => column.join('.'))).toEqual(
      expect.arrayContaining(['budgets.created_by', 'providers.updated_by', 'usage_limits.updated_by']),
    )
    await replyOf(await operator.delete(`/v1/accounts/users/${NAME}`))
    const named = async () => (await Promise.all(columns.map(namedIn))).flat()
    await expect.poll(named, { timeout: RENAMED_MS_MAX }).toEqual([])
  },
  RENAMED_MS_MAX,
)
