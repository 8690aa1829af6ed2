import { describe, expect, it } from 'vitest'
import { newSession, withModels } from './session.ts'

describe('withModels', () => {
  it('keeps what was said, and begins a new column with the question', () => {
    const session = newSession(['a'])
    const said = [
      { role: 'user' as const, content: 'Q' },
      { role: 'assistant' as const, content: 'A', answer: {} },
    ]
    const [column] = session.columns
    if (column === undefined) throw new Error('A session has a column')
    const next = withModels({ ...session, columns: [{ ...column, messages: said }] }, ['b', 'c'])
    expect(next.columns.map(({ model, messages }) => [model, messages.length])).toEqual([
      ['b', 2],
      ['c', 1],
    ])
  })
})
