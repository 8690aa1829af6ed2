import { expect, it } from 'vitest'
import { ONE_NODE_ELSEWHERE } from './one-node.ts'

const table = (engine: string) => `CREATE TABLE t (n UInt64) ENGINE = ${engine} ORDER BY n SETTINGS a = 1`

it('has tables whose rows add up remember their inserts, and no others', () => {
  expect(ONE_NODE_ELSEWHERE.statements(table('SummingMergeTree'))).toEqual([
    'CREATE TABLE t (n UInt64) ENGINE = SummingMergeTree ORDER BY n SETTINGS ' +
      'non_replicated_deduplication_window = 1000, a = 1',
  ])
  const replacing = table('ReplacingMergeTree')
  expect(ONE_NODE_ELSEWHERE.statements(replacing)).toEqual([replacing])
})
