import { describe, expect, it } from 'vitest'
import { parseSearch, quoted, termsIn } from './search-terms.ts'

const one = (typed: string) => {
  const { conditions, text, problems } = parseSearch(typed)
  return conditions.length === 1 && text === '' && problems.length === 0 ? conditions[0] : undefined
}

describe('parseSearch', () => {
  it.each([
    ['status:error', { field: 'status', op: 'is', value: 'error' }],
    ['status:ok', { field: 'status', op: 'is', value: 'success' }],
    ['-op:plan', { field: 'op', op: 'isnt', value: 'plan' }],
    ['latency:>2s', { field: 'latency_ms', op: 'gt', value: '2000' }],
    ['-latency:>2s', { field: 'latency_ms', op: 'lte', value: '2000' }],
    ['latency:<=1.5 min', { field: 'latency_ms', op: 'lte', value: '90000' }],
    ['latency:>250', { field: 'latency_ms', op: 'gt', value: '250' }],
    ['inputs.question:*refund*', { field: 'inputs.question', op: 'contains', value: 'refund' }],
    ['inputs.question:*"a b"*', { field: 'inputs.question', op: 'contains', value: 'a b' }],
    ['inputs.question:"a b"', { field: 'inputs.question', op: 'is', value: 'a b' }],
    [String.raw`inputs.question:"say \"a\\b\""`, { field: 'inputs.question', op: 'is', value: 'say "a\\b"' }],
    ['output.items[0].n:!=3', { field: 'output.items[0].n', op: 'isnt', value: '3' }],
    [
      'attributes.at:2026-11-21T00:00:00Z',
      { field: 'attributes.at', op: 'is', value: '2026-11-21T00:00:00Z' },
    ],
    ['exception:*', { field: 'exception', op: 'has', value: '' }],
    ['-exception:*', { field: 'exception', op: 'lacks', value: '' }],
    ['kind:search', { field: 'kind', op: 'is', value: 'retriever' }],
  ])('%s', (typed, condition) => expect(one(typed)).toEqual(condition))

  it('makes a condition of each term, and a text of the other words', () => {
    expect(parseSearch(' status:error  latency:>2s ')).toEqual({
      conditions: [
        { field: 'status', op: 'is', value: 'error' },
        { field: 'latency_ms', op: 'gt', value: '2000' },
      ],
      text: '',
      problems: [],
    })
    const mixed = parseSearch('late refund status:error "two words" latency:>1 s -exception:*')
    expect(mixed.text).toBe('late refund two words')
    expect(mixed.conditions.map(({ field }) => field)).toEqual(['status', 'latency_ms', 'exception'])
  })

  it('looks for words with a colon that name no field as they are', () => {
    for (const text of ['https://a.b/c?d', 'note: this', 'what is: this', '12:30', ':', '-'])
      expect(parseSearch(text)).toEqual({ conditions: [], text, problems: [] })
    expect(parseSearch('"status:error"')).toMatchObject({ conditions: [], text: 'status:error' })
  })

  it.each([
    ['status:', 'status: needs a value'],
    ['status:eror', 'status:eror is none'],
    ['latency:>', 'needs a value'],
    ['latency:>soon', 'is no time'],
    ['-inputs.a:*b*', 'cannot be asked'],
    ['inputs.a:""', 'needs a value'],
  ])('says what is wrong with %s', (typed, problem) => {
    const { problems, conditions } = parseSearch(typed)
    expect(problems.join()).toContain(problem)
    expect(conditions).toEqual([])
  })

  it('ends for whatever is typed, and loses no word of it', () => {
    const pieces = ['"', '\\', ':', '-', '*', '>', '=', ' ', 'status', 'latency', 'inputs.a', '2s', 'é', '🎉']
    let seed = 7
    for (let round = 0; round < 3000; round++) {
      let typed = ''
      for (let at = 0; at < 8; at++) {
        seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
        typed += pieces[seed % pieces.length]
      }
      const terms = termsIn(typed)
      expect(terms.map(({ text }) => text.replaceAll(' ', '')).join('')).toBe(typed.replaceAll(' ', ''))
      const { conditions, problems } = parseSearch(typed)
      expect(conditions.length + problems.length).toBeLessThanOrEqual(terms.length)
    }
  })
})

it('quotes a value so that it is read back', () => {
  for (const value of ['a', 'a b', 'say "a"', '*', '>2', 'back\\slash', 'https://x'])
    expect(one(`inputs.q:${quoted(value)}`)).toEqual({ field: 'inputs.q', op: 'is', value })
})
