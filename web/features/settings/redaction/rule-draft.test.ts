import { describe, expect, it } from 'vitest'
import type { Rule } from '../../../api/redaction.ts'
import { draftOf, isComplete, newDraft, ruleOf, withMatch } from './rule-draft.ts'

const RULES: Rule[] = [
  { name: 'keys', action: 'drop', match: 'key', keys: ['password', 'token'] },
  { name: 'path', action: 'mask', match: 'path', path: '$.inputs.messages[*].content' },
  { name: 'cards', action: 'hash', match: 'builtin', builtin: 'payment_card' },
  { name: 'orders', action: 'hash', match: 'pattern', pattern: String.raw`ORD-\d{6}, ` },
]

describe('ruleOf', () => {
  it.each(RULES)('makes the rule $name of its draft', (rule) => {
    expect(ruleOf(draftOf(rule))).toEqual(rule)
  })

  it('leaves out keys without a name', () => {
    expect(ruleOf({ ...newDraft([]), match: 'key', sought: ' a,, b ,' })).toMatchObject({ keys: ['a', 'b'] })
    const quoted = { ...newDraft([]), match: 'key' as const, sought: '"a, b" , c, "d' }
    expect(ruleOf(quoted)).toMatchObject({ keys: ['a, b', 'c', '"d'] })
  })
})

describe('newDraft', () => {
  it('has a name that no other rule has', () => {
    expect(newDraft(['rule-1', 'rule-3']).name).toBe('rule-2')
  })
})

describe('isComplete', () => {
  it('needs something to look for', () => {
    expect(isComplete(newDraft([]))).toBe(true)
    expect(isComplete(withMatch(newDraft([]), 'key'))).toBe(false)
    expect(isComplete({ ...newDraft([]), match: 'key', sought: ' , ' })).toBe(false)
  })

  it('stays the same rule where a key has a comma, a quote or spaces at its ends', () => {
    for (const keys of [['last, first'], ['a,b', 'c'], [' padded '], ['["a"]'], ['"a"', ','], ['[']]) {
      const rule: Rule = { name: 'keys', action: 'mask', match: 'key', keys }
      expect(ruleOf(draftOf(rule))).toEqual(rule)
      expect(isComplete(draftOf(rule))).toBe(true)
    }
  })
})
