import { describe, expect, it } from 'vitest'
import { Query } from '../../../src/trace/query-language/wire.ts'
import { conditionText, operationOf, operatorsFor, parseCondition } from './conditions.ts'
import { OPERATORS } from './search.ts'

describe('parseCondition', () => {
  it.each([
    ['status:error', { field: 'status', op: 'is', value: 'error' }],
    ['-op:plan', { field: 'op', op: 'isnt', value: 'plan' }],
    ['latency:>2s', { field: 'latency_ms', op: 'gt', value: '2000' }],
    ['latency:<=1.5 min', { field: 'latency_ms', op: 'lte', value: '90000' }],
    ['inputs.question:*refund*', { field: 'inputs.question', op: 'contains', value: 'refund' }],
    ['inputs.question:"a b"', { field: 'inputs.question', op: 'is', value: 'a b' }],
    ['output.items[0].n:!=3', { field: 'output.items[0].n', op: 'isnt', value: '3' }],
    ['exception:*', { field: 'exception', op: 'has', value: '' }],
    ['-exception:*', { field: 'exception', op: 'lacks', value: '' }],
    ['what is: this', undefined],
    ['plain words', undefined],
    ['status:', undefined],
  ])('%s', (typed, condition) => expect(parseCondition(typed)).toEqual(condition))
})

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

  it('has operators for every field', () => {
    for (const field of ['status', 'latency_ms', 'op', 'inputs.a', 'toString'])
      expect(operatorsFor(field).length).toBeGreaterThan(1)
  })
})
