import { describe, expect, it } from 'vitest'
import { BUILTIN_PATTERNS } from './builtin-patterns.ts'
import type { Builtin } from './wire.ts'

function foundIn(name: Builtin, text: string): string[] {
  return BUILTIN_PATTERNS[name](text).map(({ start, end }) => text.slice(start, end))
}

/** Joined here, so that no scanner takes a test for a leak. */
const key = (...parts: string[]) => parts.join('')

describe('payment_card', () => {
  it.each([
    ['4111111111111111', '4111111111111111'],
    ['pay with 4111 1111 1111 1111.', '4111 1111 1111 1111'],
    ['5555-5555-5555-4444,', '5555-5555-5555-4444'],
    ['378282246310005', '378282246310005'],
    ['since 2024 4111 1111 1111 1111 12/29', '4111 1111 1111 1111'],
    ['"\\n4111111111111111\\n"', '4111111111111111'],
    ['-4111111111111111', '4111111111111111'],
  ])('finds %j', (text, card) => {
    expect(foundIn('payment_card', text)).toEqual([card])
  })

  it.each([
    '4111111111111112',
    '0.4111111111111111',
    '1234567890123',
    'x4111111111111111',
    '1700000000000000',
    '41111111111111114111111111111111',
    '+4111111111111111',
  ])('does not find %s', (text) => {
    expect(foundIn('payment_card', text)).toEqual([])
  })
})

describe('email', () => {
  it('finds addresses in a text', () => {
    const text = 'From: "A" <a.b+c@mail.example.org>, ü@bücher.example; x@y, @z.org, me@x.org.'
    expect(foundIn('email', text)).toEqual(['a.b+c@mail.example.org', 'ü@bücher.example', 'me@x.org'])
  })
})

describe('secret', () => {
  it.each([
    key('AKIA', 'IOSFODNN7EXAMPLE'),
    key('ghp_', 'a1'.repeat(18)),
    key('sk-', 'proj-', 'Ab1_'.repeat(100)),
    key('xoxb-', '123456789012-abcdef'),
    key('AIza', 'a'.repeat(35)),
    key('hf_', 'a'.repeat(34)),
    key('eyJ', 'hbGciOiJI', '.eyJ', 'zdWIiOiIx', '.', 'sig_-natur'),
    key('-----BEGIN RSA ', 'PRIVATE KEY-----\nAB\n-----END RSA PRIVATE KEY-----'),
    key('-----BEGIN ', 'PRIVATE KEY-----\nAB'),
  ])('finds the whole of %.20s', (secret) => {
    expect(foundIn('secret', secret)).toEqual([secret])
    expect(foundIn('secret', `key='${secret}`)).toEqual([secret])
    expect(foundIn('secret', `\\n${secret}`)).toEqual([secret])
  })

  it('finds credentials of headers and URLs', () => {
    expect(foundIn('secret', 'Authorization: Bearer abcdefgh12345678')).toEqual(['abcdefgh12345678'])
    expect(foundIn('secret', 'postgres://me:pw/?@host'.replace('/?', ''))).toEqual(['pw'])
  })

  it('does not find words', () => {
    const text =
      'a task-force-of-the-something-long, risk-adjusted; a bearer of-good-news-to-everyone; eyJ; sk-learn-contributions-without-digits'
    expect(foundIn('secret', text)).toEqual([])
  })
})
