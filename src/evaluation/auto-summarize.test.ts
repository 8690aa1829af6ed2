import { describe, expect, it } from 'vitest'
import { stringify } from '../json/lossless-json.ts'
import { autoSummarize } from './auto-summarize.ts'

/** The summary that PyPI weave 0.54 makes of the same values. */
describe('autoSummarize', () => {
  it.each([
    [[], '{}'],
    [[null, null], 'null'],
    [['a', 'b'], 'null'],
    [[1, 2, null], '{"mean":1.5}'],
    [[2, true], '{"mean":1.5}'],
    [[true, 'x', '', 0, [], {}, { a: 1 }], '{"true_count":3,"true_fraction":0.42857142857142855}'],
    [[true, false, {}], '{"true_count":1,"true_fraction":0.3333333333333333}'],
    [[1, 3, {}], '{"mean":2.0}'],
    [
      [
        { a: 1, b: 'x' },
        { a: 2, c: true },
      ],
      '{"a":{"mean":1.5},"c":{"true_count":1,"true_fraction":1.0}}',
    ],
    [[{ mean: 1 }, { mean: 3 }], '{"mean":2.0}'],
    [[{ a: {} }, { a: { b: 1 } }, {}], '{"a":{"b":{"mean":1.0}}}'],
    [[{ a: 'x' }], 'null'],
  ])('%j', (values, summary) => {
    expect(stringify(autoSummarize(values))).toBe(summary)
  })

  it('averages the numbers alone, where the client fails', () => {
    expect(stringify(autoSummarize([1, 'x', { a: 1 }, 3]))).toBe('{"mean":2.0}')
  })
})
