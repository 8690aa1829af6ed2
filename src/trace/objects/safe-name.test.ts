import { describe, expect, it } from 'vitest'
import { checkObjectId } from './publisher.ts'
import { safeName, startOfName } from './safe-name.ts'

describe('safeName', () => {
  it('is a name that objects may have, or empty, whatever the text', () => {
    const characters = Array.from({ length: 0x11_0000 }, (_, code) => String.fromCodePoint(code))
    const withCase = characters.filter((one) => one.toLowerCase() !== one)
    expect(withCase).toContain('İ')
    const odd = ['', '   ', '\uD800x', 'x\uDC00', 'e\u0301', 'ﬃ', 'ǅ', 'ΟΔΟΣ', '\u202Ex', '\0', '🦋', '../a']
    for (const text of [...withCase, ...odd]) {
      const name = safeName(text)
      if (name !== '') expect(() => checkObjectId(name), JSON.stringify(text)).not.toThrow()
      expect(safeName(name)).toBe(name)
    }
  })

  it.each([
    ['My Op/v1.0', 'my_op_v1.0'],
    ['chat gpt-4o!', 'chat_gpt-4o'],
    ['İstanbul', 'istanbul'],
    ['ÄÖ 3', 'äö_3'],
  ])('of %s is %s', (text, name) => {
    expect(safeName(text)).toBe(name)
  })
})

describe('startOfName', () => {
  it('is a name that objects may have where the end would cut a character', () => {
    expect(startOfName('a𝒜b', 2)).toBe('a')
    expect(startOfName('a𝒜b', 3)).toBe('a𝒜')
  })
})
