import { describe, expect, it } from 'vitest'
import { lineDiff, wordDiff } from './text-diff.ts'

describe('wordDiff', () => {
  it('tells what stayed, went and came', () => {
    expect(wordDiff('the red fox', 'the blue fox')).toEqual([
      { kind: 'same', text: 'the ' },
      { kind: 'gone', text: 'red' },
      { kind: 'new', text: 'blue' },
      { kind: 'same', text: ' fox' },
    ])
    expect(wordDiff('a', 'a')).toEqual([{ kind: 'same', text: 'a' }])
    expect(wordDiff('', 'a')).toEqual([{ kind: 'new', text: 'a' }])
  })

  it('holds both texts whole', () => {
    const [one, two] = ['x y z x y\nlonger text here', 'y x z z y\ntext here longer']
    const parts = wordDiff(one, two)
    const join = (without: string) =>
      parts
        .filter(({ kind }) => kind !== without)
        .map(({ text }) => text)
        .join('')
    expect(join('new')).toBe(one)
    expect(join('gone')).toBe(two)
  })
})

describe('lineDiff', () => {
  it('puts lines beside those that took their place', () => {
    expect(lineDiff('a\nb\nc\nd', 'a\nB\nd\ne')).toEqual([
      { before: 'a', after: 'a' },
      { before: 'b', after: 'B' },
      { before: 'c', after: undefined },
      { before: 'd', after: 'd' },
      { before: undefined, after: 'e' },
    ])
  })

  it('holds both texts whole, however long they are', () => {
    const lines = (word: string) => Array.from({ length: 2500 }, (_, index) => `${word} ${index}`).join('\n')
    const pairs = lineDiff(lines('old'), lines('new'))
    expect(pairs.map(({ before }) => before).join('\n')).toBe(lines('old'))
    expect(pairs.map(({ after }) => after).join('\n')).toBe(lines('new'))
  })
})
