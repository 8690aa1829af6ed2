import { z } from 'zod'

/**
 * Wire: numbers and booleans of a completion may come as text: "0.5" is a number and "yes" is true, as the services that
 * OpenAI-shaped clients know read them.
 */

/** Longer texts are no numbers that a field could hold. */
const NUMBER_CHARS_MAX = 64

const NUMBER = /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i
const TRUE = ['true', 'yes', 'on', 'y', 't', '1']
const FALSE = ['false', 'no', 'off', 'n', 'f', '0']

export function laxNumber(schema: z.ZodType<number> = z.number()) {
  return z.preprocess(numberOf, schema).meta({ type: 'number' })
}

const Int = z.custom<number>(Number.isSafeInteger, {
  error: 'Input should be a valid integer',
  params: { type: 'int_type' },
})

export const LaxInt = z.preprocess(numberOf, Int).meta({ type: 'integer' })

export const LaxBoolean = z.preprocess(booleanOf, z.boolean()).meta({ type: 'boolean' })

function numberOf(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value)
  const isText = typeof value === 'string' && value.length <= NUMBER_CHARS_MAX
  return isText && NUMBER.test(value) ? Number(value) : value
}

function booleanOf(value: unknown): unknown {
  if (value === 0 || value === 1) return value === 1
  if (typeof value !== 'string') return value
  const word = value.toLowerCase()
  if (TRUE.includes(word)) return true
  return FALSE.includes(word) ? false : value
}
