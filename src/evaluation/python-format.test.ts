import { describe, expect, it } from 'vitest'
import { countFilledChars } from '../filled-templates.ts'
import { pythonFormat } from './python-format.ts'

function filled(template: string, values: Record<string, unknown>): string {
  return pythonFormat(values, countFilledChars())(template)
}

describe('a template as Python fills it', () => {
  it.each([
    ['{a} and {b}', { a: 'x', b: 1 }, 'x and 1'],
    ['{{a}} {a}', { a: 'x' }, '{a} x'],
    ['{a}', { a: null }, 'None'],
    ['{a}', { a: { b: [true, 'it', "it's"] } }, `{'b': [True, 'it', "it's"]}`],
    ['{a}', { a: ['a\nb\\'] }, `['a\\nb\\\\']`],
    ['nothing', {}, 'nothing'],
  ])('%j with %j', (template, values, text) => {
    expect(filled(template, values)).toBe(text)
  })

  it('refuses a template that it cannot fill', () => {
    expect(() => filled('{b}', { a: 1 })).toThrow('asks for {b}, and there is only a')
    expect(() => filled('{a.b}', { a: 1 })).toThrow('asks for {a.b}')
    expect(() => filled('a { b', {})).toThrow('single {')
    expect(() => filled('a } b', {})).toThrow('single }')
  })
})
