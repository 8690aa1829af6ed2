import { describe, expect, it } from 'vitest'
import { JsonText } from '../json/lossless-json.ts'
import { limitConstraints, limitTools } from './constraints.ts'

const written = (value: unknown) => new JsonText(JSON.stringify(value))
const TEXT = { type: 'string' }
const pattern = (pattern: string) => ({ ...TEXT, pattern })

function object(count: number, property: (index: number) => object = () => TEXT, rest: object = {}) {
  const properties = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, property(at)]))
  return { type: 'object', properties, ...rest }
}

function values(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at).padStart(length, 'x'))
}

/** Everything that can hold a schema. */
const holders: [name: string, limit: (schema: object) => void][] = [
  ['structured_outputs.json', (json) => limitConstraints({ structured_outputs: { json: written(json) } })],
  [
    'structured_outputs.json',
    (json) => limitConstraints({ structured_outputs: { json: written(JSON.stringify(json)) } }),
  ],
  [
    'structured_outputs.structural_tag',
    (json_schema) => {
      const tag = { type: 'structural_tag', format: { type: 'json_schema', json_schema } }
      limitConstraints({ structured_outputs: { structural_tag: JSON.stringify(tag) } })
    },
  ],
  [
    'response_format',
    (schema) =>
      limitConstraints({
        response_format: written({ type: 'json_schema', json_schema: { name: 'a', schema } }),
      }),
  ],
  [
    'response_format',
    (schema) =>
      limitConstraints({
        response_format: written({ type: 'structural_tag', structures: [{ schema }], triggers: ['<'] }),
      }),
  ],
  ['tools', (parameters) => limitTools({ tools: [tool(parameters)], tool_choice: 'required' })],
  ['tools', (parameters) => limitTools({ tools: [tool(parameters, true)] })],
]

function tool(parameters: object, strict?: boolean): JsonText {
  return written({ type: 'function', function: { name: 'f', parameters, strict } })
}

const UUID = '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'

describe.each(holders)('a schema in %s', (field, limit) => {
  it.each([
    ['counted patterns', object(200, () => pattern('[a-z]{1,999}')), 'the weight of its patterns'],
    ['nested counts', pattern('([a-z]{1,30}){1,30}'), 'the weight of its patterns'],
    ['optional characters', pattern('.?'.repeat(200)), 'the weight of its patterns'],
    ['names by patterns', { patternProperties: { '[a-z]{1,1001}': TEXT } }, 'the weight of its patterns'],
    ['different patterns', object(240, (at) => pattern(`[^${at}]{1,64}`)), 'the size of its patterns'],
    ['a long value', { const: 'x'.repeat(1001) }, 'the bytes of one text of enum'],
    ['a long value of 3 bytes each', { enum: ['日'.repeat(334)] }, 'the bytes of one text of enum'],
    ['many values', { enum: values(1000, 21) }, 'the bytes of every text of enum'],
    ['many properties', object(501), 'the number of properties of one object'],
    ['many properties of several objects', object(10, () => object(100)), 'the number of its properties'],
    ['long names', { properties: { ['x'.repeat(30_001)]: TEXT } }, 'the bytes of its property names'],
    ['minProperties', object(65, () => TEXT, { minProperties: 1 }), 'the number of properties beside'],
    ['different lengths', object(25, (at) => ({ maxLength: at })), 'the number of different bounds by min'],
    ['different counts', object(25, (at) => ({ minItems: at })), 'the number of different bounds by min'],
    ['formats', object(129, () => ({ ...TEXT, format: 'ipv6' })), 'the number of its formats'],
    ['many parts', { anyOf: Array(6_001).fill({}) }, 'the number of its objects'],
    ['ranges', { anyOf: Array(501).fill({ type: 'number', minimum: 5 }) }, 'the number of its ranges'],
    [
      'names by patterns and lengths',
      { patternProperties: { a: { maxLength: 9 } } },
      'a schema with patternProperties cannot have maxLength',
    ],
  ])('400 for %s', (_, schema, reason) => {
    const error = expect.objectContaining({
      status: 400,
      param: field,
      message: expect.stringContaining(`${field} is too large to compile: ${reason}`),
    })
    expect(() => limit(schema)).toThrow(error)
  })

  it.each([
    ['an empty one', {}],
    ['a model of dozens of fields', object(60, () => ({ anyOf: [TEXT, { type: 'null' }], title: 'A' }))],
    ['several models', object(20, () => ({ type: 'array', items: object(20), maxItems: 100 }))],
    ['lengths', object(60, (at) => ({ ...TEXT, minLength: 1, maxLength: [50, 100, 255, 1000][at % 4] }))],
    ['an enum of hundreds of values', object(3, () => ({ enum: values(300, 20) }))],
    ['dates', object(50, () => pattern('^\\d{4}-\\d{2}-\\d{2}$'))],
    ['ids', object(100, () => pattern(UUID))],
    ['phones', object(50, () => pattern('^\\+?[0-9]{1,3}[ -]?\\(?[0-9]{3}\\)?[ -]?[0-9]{3}[ -]?[0-9]{4}$'))],
    ['mail addresses', object(50, () => pattern('^[\\w.+-]+@[\\w-]+\\.[\\w.-]+$'))],
    ['short texts', object(60, (at) => pattern(`^[a-z${at}]{1,64}$`))],
    ['one longer text', pattern('^[a-z]{1,999}$')],
    ['names by patterns', { type: 'object', patternProperties: { '^[a-z]{1,64}$': TEXT } }],
    ['properties named as keywords', object(1, () => TEXT, { properties: { pattern: TEXT, enum: TEXT } })],
  ])('is taken with %s', (_, schema) => {
    expect(() => limit(schema)).not.toThrow()
  })
})

describe('other constraints', () => {
  it.each([
    ['choice', values(20, 50_000), 'the bytes of one choice'],
    ['choice', values(20, 2_000), 'the bytes of one choice'],
    ['choice', values(1_000, 21), 'the bytes of every choice together'],
    ['regex', '([a-z]{1,99}){1,99}', 'its size with repetitions written out'],
    ['regex', '.?'.repeat(2_000), 'its weight'],
    ['regex', '['.repeat(10_001), 'its characters'],
    ['grammar', `root ::= "${'a'.repeat(6_000)}"`, 'its bytes'],
    [
      'structural_tag',
      JSON.stringify({ format: { type: 'grammar', grammar: 'a'.repeat(6_001) } }),
      'the bytes of its grammars',
    ],
    [
      'structural_tag',
      JSON.stringify({ format: { type: 'regex', pattern: '([a-z]{1,30}){1,30}' } }),
      'the weight of its patterns',
    ],
    [
      'structural_tag',
      JSON.stringify({ format: { type: 'const_string', value: 'a'.repeat(1_001) } }),
      'the bytes of one text',
    ],
  ])('400 for %s', (name, constraint, reason) => {
    const error = expect.objectContaining({ status: 400, message: expect.stringContaining(reason) })
    expect(() => limitConstraints({ structured_outputs: { [name]: constraint } })).toThrow(error)
  })

  it.each([
    ['choice', values(400, 50)],
    ['choice', values(1_000, 20)],
    ['regex', '[a-z]{1,64}'],
    ['regex', '.{1,4000}'],
    ['grammar', 'root ::= "yes" | "no" [a-z]{1,100}'],
    ['structural_tag', 'not JSON'],
  ])('are taken with %s', (name, constraint) => {
    expect(() => limitConstraints({ structured_outputs: { [name]: constraint } })).not.toThrow()
  })

  it('400 for tools that are too large together, and some without parameters', () => {
    const some = written({ type: 'function', function: { name: 'f' } })
    const tools = [some, ...Array<JsonText>(3).fill(tool(object(400))), some]
    expect(() => limitTools({ tools, tool_choice: { type: 'function' } })).toThrow(
      /number of its properties should be at most 1000, and not 1200/,
    )
    expect(() =>
      limitTools({ tools: [some, tool(object(400)), some], tool_choice: 'required' }),
    ).not.toThrow()
  })

  it('are not tools that the engine does not compile', () => {
    const large = tool(object(501))
    expect(() => limitTools({ tools: [large], tool_choice: 'auto' })).not.toThrow()
    expect(() => limitTools({ tools: [large], tool_choice: 'none' })).not.toThrow()
    expect(() => limitTools({})).not.toThrow()
  })
})
