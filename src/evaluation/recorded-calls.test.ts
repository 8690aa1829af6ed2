import { expect, it } from 'vitest'
import { newId } from '../ids.ts'
import { addTotals, noTotals, recordCalls, summaryOf } from './recorded-calls.ts'

it('adds up usage of models and counts of any name', () => {
  const sum = noTotals()
  const counts = JSON.parse('{"keys":1,"constructor":2,"__proto__":3}') as object
  const usage = JSON.parse('{"constructor":{},"__proto__":{},"toString":{}}') as Record<string, object>
  for (const name of Object.keys(usage))
    Object.defineProperty(usage, name, { value: counts, enumerable: true })
  for (let times = 0; times < 2; times++) addTotals(sum, { usage, status_counts: { success: 1, error: 0 } })
  const doubled = '{"keys":2,"constructor":4,"__proto__":6}'
  expect(JSON.stringify(summaryOf(sum))).toBe(
    `{"usage":{"constructor":${doubled},"__proto__":${doubled},"toString":${doubled}},"status_counts":{"success":2,"error":0}}`,
  )
  expect(typeof Object.keys).toBe('function')
})

it('refuses what is too large to be recorded together, before it is done, and records why', async () => {
  const under = { project_id: 'a/b', trace_id: newId(), parent_id: undefined, attributes: {}, user: 'me' }
  const recorded = recordCalls({ ...under, base: newId() })
  const row = { text: 'x'.repeat(12 * 1024 * 1024) }
  const done: number[] = []
  const score = (index: number) =>
    recorded.call({ op_name: 'score', inputs: row, seed: `score/${index}` }, async () => {
      done.push(index)
      return { result: undefined, output: 1 }
    })
  const settled = await Promise.allSettled([0, 1, 2, 3].map(score))
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected'])
  expect(settled[3]).toMatchObject({ reason: { status: 413, message: expect.stringContaining('33554432') } })
  expect(done).toEqual([0, 1, 2])
  expect(recorded.parts).toHaveLength(8)
  expect(recorded.totals.status_counts).toEqual({ success: 3, error: 1 })
})
