import { describe, expect, it } from 'vitest'
import { parseJson, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { CHILDREN_MAX, idOf, jsonLines, pathText, preview, TEXT_LINES_MAX } from './json-lines.ts'
import { findInJson } from './json-search.ts'

const VALUE: Json = {
  model: 'loom',
  messages: [
    { role: 'user', content: 'one\ntwo' },
    { role: 'assistant', content: null },
  ],
  n: 1.5,
}

describe('jsonLines', () => {
  it('lists what is open, from the top, children after their parent', () => {
    const lines = jsonLines(VALUE, (_, depth) => depth < 2)
    expect(lines.map(({ depth, name, kind }) => [depth, name, kind])).toEqual([
      [0, undefined, 'object'],
      [1, 'model', 'text'],
      [1, 'messages', 'array'],
      [2, 0, 'object'],
      [2, 1, 'object'],
      [1, 'n', 'number'],
    ])
  })

  it('shows integers that no number represents with all their digits, as numbers', () => {
    const [, line] = jsonLines(parseJson('{"id":1234567890123456789}') as Json, () => true)
    expect(line).toMatchObject({ kind: 'number', text: '1234567890123456789' })
    expect(preview(line?.value ?? null)).toBe('1234567890123456789')
  })

  it('folds a text of several lines until it is opened', () => {
    const id = idOf(['messages', 0, 'content'])
    const all = (open: boolean) => jsonLines(VALUE, (line, depth) => (line === id ? open : depth < 9))
    expect(all(false).find((line) => line.id === id)).toMatchObject({ kind: 'longText', isOpen: false })
    expect(
      all(true)
        .filter(({ kind }) => kind === 'textLine')
        .map(({ text }) => text),
    ).toEqual(['one', 'two'])
  })

  it.each([
    ['lines', '\n'.repeat(TEXT_LINES_MAX * 3)],
    ['words', 'word '.repeat(TEXT_LINES_MAX * 25)],
  ])('ends after so many lines of a text of more %s, and says so', (_, text) => {
    const lines = jsonLines(text, () => true)
    expect(lines).toHaveLength(1 + TEXT_LINES_MAX + 1)
    expect(lines.at(-1)?.text).toMatch(/^… more/)
  })

  it('ends after so many children of one container, says how many there are, and has the one that was found', () => {
    const value = { many: Array.from({ length: CHILDREN_MAX + 500 }, (_, index) => index), last: 1 }
    const lines = jsonLines(value, () => true, ['many', CHILDREN_MAX + 7])
    expect(lines).toHaveLength(2 + CHILDREN_MAX + 2 + 1)
    expect(lines.slice(-3).map(({ path, kind, text }) => [path, kind, text])).toEqual([
      [['many'], 'textLine', expect.stringMatching(/^… 500 more/)],
      [['many', CHILDREN_MAX + 7], 'number', String(CHILDREN_MAX + 7)],
      [['last'], 'number', '1'],
    ])
    expect(jsonLines(value, () => true)).toHaveLength(2 + CHILDREN_MAX + 1 + 1)
  })

  it('is the same as a recursive walk for a deep value', () => {
    let deep: Json = 'end'
    for (let depth = 0; depth < 20_000; depth++) deep = [deep]
    expect(jsonLines(deep, (_, depth) => depth < 5)).toHaveLength(6)
  })
})

describe('pathText', () => {
  it('is a path that finds the value again', () => {
    const call = { ...VALUE, attributes: { 'gen_ai.prompt': [{ a: 'found' }] } }
    const path = ['attributes', 'gen_ai.prompt', 0, 'a']
    expect(pathText(path)).toBe('attributes.gen_ai\\.prompt.0.a')
    expect(valueAt(call, pathText(path))).toBe('found')
  })
})

describe('preview', () => {
  it('fits one line', () => {
    expect(preview({ a: 1, b: ['x', { c: null }] })).toBe('{a: 1, b: ["x", {c: null}]}')
    expect(preview(Array.from({ length: 1000 }, () => 'word')).length).toBeLessThan(100)
  })
})

describe('findInJson', () => {
  it('finds keys and values in order, whatever their case', () => {
    expect(findInJson(VALUE, 'ROLE').map(pathText)).toEqual(['messages.0.role', 'messages.1.role'])
    expect(findInJson(VALUE, 'two').map(pathText)).toEqual(['messages.0.content'])
    expect(findInJson(VALUE, '')).toEqual([])
  })
})
