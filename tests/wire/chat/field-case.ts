import { expect } from 'vitest'

export interface Choice {
  message: { role: string; content: string | null; tool_calls?: ToolCall[] }
  logprobs: { content: Logprob[] } | null
  finish_reason: string
  stop_reason: number | string | null
  token_ids: number[] | null
}

export interface ToolCall {
  id: string
  function: { name: string; arguments: string }
}

export interface Logprob {
  token: string
  bytes: number[]
  logprob: number
  top_logprobs: { token: string }[]
}

export interface Reply {
  id: string
  model: string
  choices: [Choice, ...Choice[]]
  usage: {
    prompt_tokens: number
    completion_tokens: number
    prompt_tokens_details: { cached_tokens: number }
  }
  prompt_logprobs: (Record<string, { logprob: number; decoded_token: string }> | null)[] | null
  prompt_token_ids: number[] | null
}

/** A request that must succeed: greedy, short, one question, where its fields do not override that. */
export type Ask = (fields: Record<string, unknown>, headers?: Record<string, string>) => Promise<Reply>

/** A value that must be refused: status, pattern of the message, and other fields of the request. */
export type Refusal = [value: unknown, status: 400 | 422, words: RegExp, beside?: Record<string, unknown>]

export interface FieldCase {
  /** What the field does, seen in replies of the real engine. */
  effect: (ask: Ask) => Promise<void>
  refused: Refusal[]
}

export type FieldCases = Record<string, FieldCase>

export const question = (content: unknown) => ({ messages: [{ role: 'user', content }] })

/** The only answer's text. */
export async function textOf(reply: Promise<Reply>): Promise<string> {
  return (await reply).choices[0].message.content ?? ''
}

/** A field that is refused, where its value asks for anything. */
export function unsupported(field: string, empty: unknown, value: unknown): FieldCases {
  const effect = async (ask: Ask): Promise<void> =>
    expect(await textOf(ask({ [field]: empty }))).toBe(await textOf(ask({})))
  return { [field]: { effect, refused: [[value, 400, /not supported/]] } }
}

/** The field changes the answer to the same request. */
export async function changes(ask: Ask, fields: object, beside: object = {}): Promise<void> {
  const [without, other] = [await ask({ ...beside }), await ask({ ...beside, ...fields })]
  expect(other.choices[0].message).not.toEqual(without.choices[0].message)
}

/** Sampled at random, with the most likely answer nevertheless. */
export async function makesGreedy(ask: Ask, fields: object): Promise<void> {
  const greedy = await textOf(ask({}))
  const sampled = await ask({ ...fields, temperature: 2, n: 4 })
  expect(sampled.choices.map((choice) => choice.message.content)).toEqual(Array(4).fill(greedy))
}
