import type { CompiledQuery, KyselyPlugin } from 'kysely'
import type { ControlDb } from './port.ts'

/** How PostgreSQL would run the statements of some work, in their order. */
export async function plansOf(
  control: ControlDb,
  work: (control: ControlDb) => Promise<unknown>,
): Promise<string[]> {
  const statements: CompiledQuery[] = []
  const recording: KyselyPlugin = {
    transformQuery({ node, queryId }) {
      statements.push(control.getExecutor().compileQuery(node, queryId))
      return node
    },
    transformResult: async ({ result }) => result,
  }
  await work(control.withPlugin(recording))
  return Promise.all(
    statements.map(async (statement) => {
      const explain = { ...statement, sql: `explain ${statement.sql}` }
      const { rows } = await control.executeQuery<{ 'QUERY PLAN': string }>(explain)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }),
  )
}
