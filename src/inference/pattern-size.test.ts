import { describe, expect, it } from 'vitest'
import { patternSize } from './pattern-size.ts'

describe('patternSize', () => {
  it.each([
    ['', 0, 0],
    ['abc', 3, 0],
    ['[a-z]{1,64}', 64, 1],
    ['[^\\]{5}]{3}', 3, 0],
    ['a\\{1,999}', 8, 0],
    ['\\u{1000}x', 2, 0],
    ['(?:ab|cd){10}', 40, 0],
    ['((a{1,10}){1,10}){1,10}', 1000, 111],
    ['^a$|^b$', 2, 0],
    ['(?<name>a{2}){3}', 6, 0],
    ['a{10}{10}', 100, 0],
    ['a{ 1 , 20 }', 20, 1],
    ['a{5,}', 6, 1],
    ['a*b+c?', 3, 3],
    ['(a{9}', 9, 0],
    ['a)b{3}', 4, 0],
    ['(){50}', 50, 0],
  ])('counts %s', (pattern, atoms, variable) => {
    expect(patternSize(pattern)).toEqual({ atoms, variable })
  })

  it('stays a number for counts of any length, and takes a long pattern', () => {
    const deep = `${'('.repeat(50_000)}a${'){1,99999999999999999999}'.repeat(50_000)}`
    expect(patternSize(deep).atoms).toBe(Number.POSITIVE_INFINITY)
    const spaces = ' '.repeat(10_000)
    expect(patternSize(`a{${spaces},${spaces}`).atoms).toBe(20_003)
  })
})
