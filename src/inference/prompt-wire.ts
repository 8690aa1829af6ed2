import { z } from 'zod'

/** Texts or lists of tokens in one request. */
const PROMPTS_MAX = 2_048

/** More than the window of any model. */
const TOKENS_MAX = 10_000_000

/** A text, several, a list of token ids, or several; the check of a list ends at its first wrong element. */
export const Prompt = z
  .custom<string | string[] | number[] | number[][]>(isPrompt, {
    error: `Input should be a string, a list of token ids, or a list of up to ${PROMPTS_MAX} of these`,
    params: { type: 'prompt_type' },
  })
  .meta({
    anyOf: [
      { type: 'string' },
      { type: 'array', items: { type: 'string' } },
      { type: 'array', items: { type: 'integer' } },
      { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    ],
  })
export type Prompt = z.output<typeof Prompt>

/** Token ids. */
export const TokenIds = z
  .custom<number[]>(isTokens, { error: 'Input should be a list of token ids', params: { type: 'list_type' } })
  .meta({ type: 'array', items: { type: 'integer' } })

/** How many answers a prompt requests. */
export function promptCount(prompt: Prompt | null | undefined): number {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt.length : 1
}

function isPrompt(value: unknown): boolean {
  if (typeof value === 'string' || isTokens(value)) return true
  if (!Array.isArray(value) || value.length > PROMPTS_MAX) return false
  return value.every((one) => typeof one === 'string') || value.every(isTokens)
}

function isTokens(value: unknown): boolean {
  return Array.isArray(value) && value.length <= TOKENS_MAX && value.every(isTokenId)
}

function isTokenId(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
