import { describe, expect, it } from 'vitest'
import { completionsOf, fieldAt, type Known } from './search-completions.ts'

const KNOWN: Known = {
  fields: ['inputs.question', 'inputs.with space', String.raw`inputs.a\.b`].map((path) => ({
    path,
    count: 3,
    types: ['string'],
    example: 'Why?',
    values: [],
  })),
}

const labels = (typed: string, caret = typed.length) =>
  completionsOf(typed, caret, KNOWN).map(({ label }) => label)

describe('completionsOf', () => {
  it('offers fields while one is typed, those that begin so first', () => {
    expect(labels('la')).toEqual(['latency:', 'display_name:'])
    expect(labels('quest')).toEqual(['inputs.question:'])
    expect(labels('-stat')).toEqual(['-status:'])
    expect(labels('"stat')).toEqual([])
    expect(labels('').length).toBeGreaterThan(5)
  })

  it('offers values and operators after a field', () => {
    expect(labels('status:')).toEqual([
      'status:success',
      'status:error',
      'status:running',
      'status:descendant_error',
    ])
    expect(labels('status:err')).toEqual(['status:error', 'status:descendant_error'])
    expect(labels('latency:>1')).toEqual(['latency:>100ms', 'latency:>1s', 'latency:>10s'])
    expect(labels('inputs.question:refu')).toEqual(['inputs.question:*refu*'])
    expect(labels('inputs.question:')).toEqual(['inputs.question:*'])
    expect(labels('kind:ret')).toEqual(['kind:retriever'])
  })

  it('offers the values that the server told, and paths with dots in their names', () => {
    const values = [
      { value: 'refund policy', count: 1200 },
      { value: 7, count: 1 },
    ]
    expect(completionsOf('inputs.question:', 16, { ...KNOWN, values }).slice(0, 2)).toMatchObject([
      { label: 'inputs.question:"refund policy"', hint: '1,200' },
      { label: 'inputs.question:7', hint: '1' },
    ])
    expect(labels(String.raw`a\.b`)).toEqual([String.raw`inputs.a\.b:`])
    expect(labels('space')).toEqual([])
    expect(fieldAt(String.raw`x inputs.a\.b:`, 14)).toBe(String.raw`inputs.a\.b`)
    expect(fieldAt('status', 6)).toBeUndefined()
  })

  it('completes the term at the caret and keeps the others', () => {
    const [first] = completionsOf('stat latency:>2s', 4, KNOWN)
    expect(first?.typed).toBe('status:latency:>2s')
    const [value] = completionsOf('status:err latency:>2s', 10, KNOWN)
    expect(value?.typed).toBe('status:error latency:>2s')
    expect(completionsOf('status:error late', 17, KNOWN)[0]?.typed).toBe('status:error latency:')
  })
})
