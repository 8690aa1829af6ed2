import { expect, it } from 'vitest'
import { listedMetrics, runColumns } from './run-columns.tsx'
import { runRow } from './run-row.ts'

it('evaluations have a column for twelve metrics, also without a name, and say how many others there are', () => {
  const output = Object.fromEntries(
    Array.from({ length: 300 }, (_, at) => [at === 0 ? '' : `m${at}`, { mean: at }]),
  )
  const call = {
    id: 'e',
    op_name: 'Evaluation.evaluate',
    started_at: '',
    ended_at: '',
    inputs: {},
    output,
    summary: {},
  }
  const { listed, others } = listedMetrics([runRow(call as never)], new Map())
  expect([listed.length, others]).toEqual([12, 288])
  const ids = runColumns('local/p', listed, new Map()).map(({ id }) => id)
  expect(ids).not.toContain('')
  expect(new Set(ids).size).toBe(ids.length)
})
