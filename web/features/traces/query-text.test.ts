import { describe, expect, it } from 'vitest'
import { queryText, readQuery } from './query-text.ts'
import { OPERATORS, type TracesSearch } from './search.ts'

type Asked = Pick<TracesSearch, 'filter' | 'text'>

function asked(text: string): Asked | string {
  const read = readQuery(text)
  return 'problem' in read ? read.problem : read.asked
}

describe('readQuery', () => {
  it.each(OPERATORS)('reads back every chip: %s', (op) => {
    const value = op === 'has' || op === 'lacks' ? '' : '2000'
    for (const field of ['status', 'latency_ms', 'inputs.question', 'output.list[0].a'])
      for (const each of value === '' ? [''] : [value, 'abc', '1.0', ' ', '"x"']) {
        const search = { filter: [{ field, op, value: each }], text: 'two words' }
        const again = asked(queryText(search))
        // `1.0` and `1` are one number.
        if (each === '1.0') expect(queryText(again as Asked)).toBe(queryText(search))
        else expect(again).toEqual(search)
      }
  })

  it('reads back conditions on the kind, whichever word names it', () => {
    for (const [op, value, again] of [
      ['is', 'tool', 'tool'],
      ['isnt', 'search', 'retriever'],
      ['has', '', ''],
      ['lacks', '', ''],
    ] as const) {
      const text = queryText({ filter: [{ field: 'kind', op, value }], text: '' })
      expect(asked(text)).toEqual({ filter: [{ field: 'kind', op, value: again }], text: '' })
    }
  })

  it('keeps what no chip can say as it is', () => {
    const search: Asked = {
      filter: [{ expr: { $in: [{ $getField: 'id' }, [{ $literal: 'a' }]] } }],
      text: '',
    }
    expect(asked(queryText(search))).toEqual(search)
    const alone = { $not: [{ $and: [] }] }
    expect(asked(JSON.stringify({ $expr: alone }))).toEqual({ filter: [{ expr: alone }], text: '' })
    expect(asked(' ')).toEqual({ filter: [], text: '' })
  })

  it.each([
    ['{"$expr": ', /JSON/],
    ['[]', /object/],
    ['{"$and": []}', /"\$expr", not "\$and"/],
    ['{}', /not none/],
    ['{"$expr": [1]}', /one operation/],
    ['{"$expr": {"$and": [5]}}', /no operation: 5/],
  ])('says what is wrong with %s', (text, problem) => {
    expect(asked(text)).toMatch(problem)
  })
})
