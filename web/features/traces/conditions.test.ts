import { describe, expect, it } from 'vitest'
import { Query } from '../../../src/trace/query-language/wire.ts'
import { conditionText, operationOf, operatorsFor } from './conditions.ts'
import { OPERATORS } from './search.ts'

describe('operationOf', () => {
  it('is always a query that the server understands', () => {
    for (const op of OPERATORS)
      for (const value of ['', '12', 'a b', '2026-11-21T00:00:00Z']) {
        const $expr = operationOf({ field: 'inputs.n', op, value })
        expect(Query.safeParse({ $expr }).success, op).toBe(true)
      }
  })

  it('keeps what a link says beyond chips', () => {
    const expr = { $or: [{ $eq: [{ $getField: 'id' }, { $literal: 'a' }] }] }
    expect(operationOf({ expr })).toEqual(expr)
    expect(conditionText({ expr })).toContain('$or')
  })

  it('is said to hold for what is missing where it does', () => {
    expect(conditionText({ field: 'inputs.a', op: 'is', value: '' })).toBe('inputs.a is empty or missing')
    expect(conditionText({ field: 'inputs.a', op: 'is', value: 'x' })).toBe('inputs.a is x')
    expect(conditionText({ field: 'thread_id', op: 'is', value: '' })).toBe('thread_id is ')
  })

  it('has operators for every field', () => {
    for (const field of ['status', 'latency_ms', 'op', 'inputs.a', 'toString'])
      expect(operatorsFor(field).length).toBeGreaterThan(1)
  })
})
