import { describe, expect, it } from 'vitest'
import { pythonFormat } from './python-format.ts'

describe('a template as Python fills it', () => {
  it.each([
    ['{a} and {b}', { a: 'x', b: 1 }, 'x and 1'],
    ['{{a}} {a}', { a: 'x' }, '{a} x'],
    ['{a}', { a: null }, 'None'],
    ['{a}', { a: { b: [true, 'it', "it's"] } }, `{'b': [True, 'it', "it's"]}`],
    ['{a}', { a: ['a\nb\\'] }, `['a\\nb\\\\']`],
    ['nothing', {}, 'nothing'],
  ])('%j with %j', (template, values, text) => {
    expect(pythonFormat(template, values)).toBe(text)
  })

  it('refuses a template that it cannot fill', () => {
    expect(() => pythonFormat('{b}', { a: 1 })).toThrow('asks for {b}, and there is only a')
    expect(() => pythonFormat('{a.b}', { a: 1 })).toThrow('asks for {a.b}')
    expect(() => pythonFormat('a { b', {})).toThrow('single {')
    expect(() => pythonFormat('a } b', {})).toThrow('single }')
  })
})
