import { describe, expect, it } from 'vitest'
import { isLaidOut } from './markdown-limits.ts'

describe('isLaidOut', () => {
  it.each([
    ['a list', '- one\n  - two\n    - three'],
    ['a quote within a quote', '> > said'],
    ['many rules and tables', '---\n'.repeat(500) + '| a | b |\n'.repeat(500)],
    ['code', `\`\`\`py\n${'snake_case = 1\n'.repeat(1000)}\`\`\``],
  ])('%s is', (_, text) => expect(isLaidOut(text)).toBe(true))

  it.each([
    ['plain text', 'Only words.'],
    ['a list of one item, thousands of levels deep', `${'- '.repeat(3000)}x`],
    ['numbered levels', `${'1. '.repeat(40)}x`],
    ['quotes of quotes', `text\n${'> '.repeat(19_000)}x`],
    ['emphasis that never ends', 'a_b*'.repeat(9_900)],
    ['a very long text', '# x\n'.repeat(20_000)],
  ])('%s is not', (_, text) => expect(isLaidOut(text)).toBe(false))
})
