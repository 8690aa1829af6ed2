import { expect, it } from 'vitest'
import { addTotals, noTotals, summaryOf } from './recorded-calls.ts'

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
