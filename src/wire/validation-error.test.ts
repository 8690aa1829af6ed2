import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { JsonText } from '../json/lossless-json.ts'
import { validationFailure } from './validation-error.ts'

/** The input that an error shows for a value of the wrong type. */
function shown(value: unknown): unknown {
  const parsed = z.object({ a: z.boolean() }).safeParse({ a: value })
  if (parsed.success) throw new Error('The value is right')
  return validationFailure('body', parsed.error, { a: value }).detail[0]?.input
}

describe('the input that a 422 shows', () => {
  it.each([['x'], [12], [['a', { b: [1.5, null] }]], [{}], [[]], [{ text: 'a"b' }]])(
    'is %j as it came',
    (value) => {
      expect(shown(value)).toEqual(value)
    },
  )

  it('is the beginning of a large value, whose rest is not read', () => {
    const list = Array.from({ length: 1_000 }, (_, index) => ({ index, text: 'x' }))
    expect(shown(list)).toBe(`${JSON.stringify(list).slice(0, 200)}…`)
    expect(shown('"'.repeat(1_000))).toBe(`"${'\\"'.repeat(200)}`.slice(0, 200).concat('…'))
    const notJson = new JsonText(`{"a":[${'1,'.repeat(1_000)}`)
    expect(shown([notJson])).toBe(`${`[${notJson.text}`.slice(0, 200)}…`)
    expect(shown({ bytes: new Uint8Array(10_000_000), rest: 'x'.repeat(200) })).toBe(
      `{"bytes":"10000000 bytes","rest":"${'x'.repeat(166)}…`,
    )
  })
})
