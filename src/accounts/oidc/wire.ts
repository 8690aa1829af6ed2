import { z } from 'zod'

/** The address goes into a cookie, which browsers limit to 4,096 bytes. */
const RETURN_TO_CHARS_MAX = 1500

export const StartQuery = z.object({
  return_to: z
    .string()
    .max(RETURN_TO_CHARS_MAX)
    .default('/')
    .meta({ description: 'The path of this server that the browser is sent to afterwards' }),
})
export type StartQuery = z.output<typeof StartQuery>

/** Codes of providers have up to about 1,500 characters, and Node reads 16 KiB of an address with its headers. */
const ANSWER_CHARS_MAX = 2800
const Answer = z.string().max(ANSWER_CHARS_MAX).optional()

export const CallbackQuery = z.object({
  state: Answer,
  code: Answer,
  iss: Answer,
  error: Answer,
  error_description: Answer,
})
export type CallbackQuery = z.output<typeof CallbackQuery>

export const Redirect = z.string().meta({ description: 'Empty: status 302 and a Location header' })
