import { describe, expect, it } from 'vitest'
import { JSON_DEPTH_MAX } from '../json/json-limits.ts'
import { redactAll } from './redaction-job.ts'
import { compileRules } from './rules.ts'
import type { DocumentName, Rule } from './wire.ts'

const KEY = { secret: 'secret', projectId: 'test/p' }

function redacted(
  text: string,
  rules: readonly Rule[],
  document: DocumentName = 'inputs',
  form: 'json' | 'text' = 'json',
) {
  const { texts, hits } = redactAll(compileRules(rules), KEY, [{ form, text, document }])
  return { text: texts[0], hits }
}

const key = (...keys: string[]): Rule => ({ name: 'key', match: 'key', keys, action: 'mask' })
const email: Rule = { name: 'email', match: 'builtin', builtin: 'email', action: 'mask' }
const cards: Rule = { name: 'cards', match: 'builtin', builtin: 'payment_card', action: 'mask' }
const path = (value: string): Rule => ({ name: 'path', match: 'path', path: value, action: 'mask' })
const own = (pattern: string): Rule => ({ name: 'own', match: 'pattern', pattern, action: 'mask' })

describe('a rule for keys', () => {
  it.each([
    ['{"password":"x"}', '{"password":"[redacted]"}'],
    [
      ' { "a" : [ { "PassWord" : { "b" : 1 } } ] , "n" : 1.0 } ',
      ' { "a" : [ { "PassWord" : "[redacted]" } ] , "n" : 1.0 } ',
    ],
    [
      '{"pass\\u0077ord":[1,2],"b":12345678901234567890}',
      '{"pass\\u0077ord":"[redacted]","b":12345678901234567890}',
    ],
    ['{"http.header.password":"x"}', '{"http.header.password":"[redacted]"}'],
    ['{"password":null,"password_hint":"x"}', '{"password":null,"password_hint":"x"}'],
    ['{"arguments":"{\\"password\\": \\"x\\"}"}', '{"arguments":"{\\"password\\": \\"[redacted]\\"}"}'],
  ])('finds them in any case, at any depth, and in JSON within texts: %s', (text, expected) => {
    expect(redacted(text, [key('Password')]).text).toBe(expected)
  })

  it.each([
    ['{"password":"x","score":NaN}', '{"password":"[redacted]","score":NaN}'],
    ['[-Infinity, {"password":NaN, "a": Infinity}]', '[-Infinity, {"password":"[redacted]", "a": Infinity}]'],
    ['[NaN,"NaN \\" Infinity",{"password":"x"}]', '[NaN,"NaN \\" Infinity",{"password":"[redacted]"}]'],
    ['\uFEFF{"password":"x"}', '\uFEFF{"password":"[redacted]"}'],
    ['\uFEFF {"password":"x","n":NaN}', '\uFEFF {"password":"[redacted]","n":NaN}'],
    [
      '\uFEFF{"password":"x"}\r\n\n{"a":NaN, "password":1}\n["b"]\n',
      '\uFEFF{"password":"[redacted]"}\r\n\n{"a":NaN, "password":"[redacted]"}\n["b"]\n',
    ],
    ['{"a":1}\nnot JSON\n{"password":"x"}', '{"a":1}\nnot JSON\n{"password":"[redacted]"}'],
    ['{"password":"x","n":NaNs}', '{"password":"x","n":NaNs}'],
    ['{"n":NaN,"password":"x', '{"n":NaN,"password":"x'],
  ])(
    'finds them as Python writes JSON, behind a byte order mark, and in JSON lines: %s',
    (text, expected) => {
      expect(redacted(text, [key('password')], 'file', 'text').text).toBe(expected)
      const within = redacted(JSON.stringify({ text }), [key('password')]).text ?? ''
      expect(JSON.parse(within)).toEqual({ text: expected })
    },
  )

  it.each([
    ['{"k":1}', '{}'],
    ['{ "k" : 1 }', '{  }'],
    ['{"a":1, "k":2, "b":3}', '{"a":1, "b":3}'],
    ['{"k":1, "a":2}', '{"a":2}'],
    ['{"a":1, "k":2}', '{"a":1}'],
    ['{"a":1, "k":2, "K":3 }', '{"a":1 }'],
    ['{"k":1, "K":2, "a":{"k":1},"K":4}', '{"a":{}}'],
    ['[{"k":1},{"a":[{"b":1,"k":2}]}]', '[{},{"a":[{"b":1}]}]'],
  ])('drops members with their commas: %s', (text, expected) => {
    expect(redacted(text, [{ ...key('k'), action: 'drop' }]).text).toBe(expected)
  })

  it('hashes equal values of a project alike, and those of two projects not', () => {
    const rules = compileRules([{ ...key('k'), action: 'hash' }])
    const values = ['{"k":"x"}', '{"a":{"k":"\\u0078"}}', '{"k":"y"}'].map((text) => ({
      form: 'json' as const,
      text,
    }))
    const [one = '', other = '', different] = redactAll(rules, KEY, values).texts
    expect(one).toMatch(/^\{"k":"\[hash:[0-9a-f]{32}\]"\}$/)
    expect(other).toBe(`{"a":${one}}`)
    expect(different).not.toBe(one)
    expect(redactAll(rules, { ...KEY, projectId: 'test/q' }, values).texts[0]).not.toBe(one)
  })
})

describe('a rule for a path', () => {
  const text = '{"messages":[{"role":"user","content":"a"},{"content":{"x":1}}],"a.b":{"c":2}}'

  it.each([
    ['$.inputs.messages[*].content', text.replace('"a"', '"[redacted]"').replace('{"x":1}', '"[redacted]"')],
    ['$.inputs.messages[1].*', text.replace('{"x":1}', '"[redacted]"')],
    ["$.inputs['a.b'].c", text.replace('2', '"[redacted]"')],
    ['$.inputs.messages.content', text],
    ['$.output.messages', text],
  ])('%s', (value, expected) => {
    expect(redacted(text, [path(value)]).text).toBe(expected)
  })

  it('leads into each line of JSON lines, and behind a byte order mark', () => {
    const rules = [path('$.file.a')]
    expect(redacted('{"a":1}\n{"a":NaN}\n', rules, 'file', 'text').text).toBe(
      '{"a":"[redacted]"}\n{"a":"[redacted]"}\n',
    )
    expect(redacted('\uFEFF{"a":1}', rules, 'file', 'text').text).toBe('\uFEFF{"a":"[redacted]"}')
  })

  it('leaves null where it drops an element, and redacts a whole output', () => {
    expect(redacted('[1,2,3]', [{ ...path('$.output[1]'), action: 'drop' }], 'output').text).toBe(
      '[1,null,3]',
    )
    expect(redacted('{"a":1}', [path('$.output')], 'output').text).toBe('"[redacted]"')
  })

  it.each(['inputs.a', '$.inputs', '$.other.a', '$.inputs..a', '$.inputs[a]', '$.inputs.a b'])(
    'is refused where it is none: %s',
    (value) => {
      expect(() => compileRules([path(value)])).toThrow('Rule path: a path')
    },
  )
})

describe('a rule for patterns', () => {
  it('keeps all bytes beside what it finds, escapes within the same text too', () => {
    const text = String.raw`{"t":"\u00e9\/ \ud83d\ude00 me\u0040x.org\n\"é😀\u0000"}`
    expect(redacted(text, [email])).toEqual({
      text: String.raw`{"t":"\u00e9\/ \ud83d\ude00 [redacted]\n\"é😀\u0000"}`,
      hits: [1],
    })
  })

  it('finds values, not keys', () => {
    expect(redacted('{"me@x.org":["me@x.org"]}', [email]).text).toBe('{"me@x.org":["[redacted]"]}')
  })

  it('finds what JSON within a text has escaped, and what the text has around it', () => {
    const inner = String.raw`{"a":"me\u0040x.org","b":"{\"c\":\"me\\u0040x.org\"}"}`
    const { text = '' } = redacted(JSON.stringify({ inner }), [email])
    const shown = JSON.parse((JSON.parse(text) as { inner: string }).inner) as { a: string; b: string }
    expect(shown).toEqual({ a: '[redacted]', b: '{"c":"[redacted]"}' })
    expect(redacted(JSON.stringify({ inner: '{"a":1}' }), [own('"a":\\d')]).text).toBe(
      '{"inner":"{[redacted]}"}',
    )
  })

  it('replaces once what several find, as the first of them says, and counts each', () => {
    const rules: Rule[] = [{ ...own('x\\.org.{3}'), action: 'drop' }, email]
    expect(redacted('"to me@x.org now"', rules)).toEqual({ text: '"to w"', hits: [1, 1] })
  })

  it('finds payment cards that are numbers', () => {
    const text = '{"card":4111111111111111,"at":1700000000000000000,"x":0.4111111111111111}'
    expect(redacted(text, [cards]).text).toBe(text.replace('4111111111111111,', '"[redacted]",'))
  })

  it.each(['a*', '(', '(?=x)', '(a)\\1', '\\pL{600}'])(
    'is refused where it cannot be used: %s',
    (pattern) => {
      expect(() => compileRules([own(pattern)])).toThrow('Rule own: ')
    },
  )
})

describe('redaction', () => {
  it('leaves what was redacted before', () => {
    const rules: Rule[] = [{ ...key('k'), action: 'hash' }, { ...own('[0-9a-f]{4}'), action: 'hash' }, email]
    const once = redacted('{"k":"x","t":"me@x.org abcd"}', rules)
    expect(redacted(once.text ?? '', rules)).toEqual({ text: once.text, hits: [0, 0, 0] })
  })

  it('changes nothing where nothing is found', () => {
    const text = '\t{"a" :[ ], "b": { } ,"c":"\\\\","d":-1.0e+5,"e":[null,true , false]}\n'
    expect(redacted(text, [key('k'), email, cards, path('$.inputs.x.y'), own('zz')])).toEqual({
      text,
      hits: [0, 0, 0, 0, 0],
    })
  })

  it('400 for JSON with more levels than any payload has', () => {
    const deep = '['.repeat(JSON_DEPTH_MAX + 1) + ']'.repeat(JSON_DEPTH_MAX + 1)
    expect(() => redacted(deep, [email])).toThrow('levels deep')
    const half = (inner: string) => '['.repeat(600) + inner + ']'.repeat(600)
    expect(() => redacted(half(JSON.stringify(half('1'))), [email])).toThrow('levels deep')
    const most = `${'['.repeat(JSON_DEPTH_MAX)}"me@x.org"${']'.repeat(JSON_DEPTH_MAX)}`
    expect(redacted(most, [email]).hits).toEqual([1])
  })

  it('of a text is that of JSON where it is JSON', () => {
    expect(redacted('{"password": "x"}\n', [key('password')], 'file', 'text').text).toBe(
      '{"password": "[redacted]"}\n',
    )
    expect(redacted('password: "x" of me@x.org', [key('password'), email], 'file', 'text').text).toBe(
      'password: "x" of [redacted]',
    )
  })
})
