import { describe, expect, it } from 'vitest'
import { wordDiff } from './word-diff.ts'

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
