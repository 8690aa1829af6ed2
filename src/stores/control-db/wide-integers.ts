import { type ColumnDefinitionNode, DataTypeNode, type KyselyPlugin } from 'kysely'

/** Makes columns of 64 bits of the `integer` of migrations, which has as many in SQLite and 32 in PostgreSQL. */
export const WIDE_INTEGERS: KyselyPlugin = {
  transformQuery({ node }) {
    if (node.kind === 'CreateTableNode') return { ...node, columns: node.columns.map(widened) }
    if (node.kind !== 'AlterTableNode' || node.columnAlterations === undefined) return node
    return {
      ...node,
      columnAlterations: node.columnAlterations.map((change) =>
        change.kind === 'AddColumnNode' ? { ...change, column: widened(change.column) } : change,
      ),
    }
  },
  transformResult: async ({ result }) => result,
}

function widened(column: ColumnDefinitionNode): ColumnDefinitionNode {
  const { dataType } = column
  return DataTypeNode.is(dataType) && dataType.dataType === 'integer'
    ? { ...column, dataType: DataTypeNode.create('bigint') }
    : column
}
