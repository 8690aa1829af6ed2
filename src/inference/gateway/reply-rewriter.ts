import { z } from 'zod'
import { dependencyFailed } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'
import { JsonText, type KeepShape, parseKeeping, stringify } from '../../json/lossless-json.ts'
import { createPromptIdNoter, PROMPT_IDS, type PromptIdNotes } from './prompt-ids.ts'

/** Logprobs and ids are many numbers that must not change, so their text is copied from the engine's. */
const KEEP: KeepShape = {
  choices: { '*': { logprobs: 'text', token_ids: 'text' } },
  prompt_logprobs: 'text',
  [PROMPT_IDS]: 'text',
}

const Count = z.int().nonnegative()
const Usage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count.nullish(),
  prompt_tokens_details: z.object({ cached_tokens: Count.nullish() }).nullish(),
  completion_tokens_details: z.object({ reasoning_tokens: Count.nullish() }).nullish(),
})

/** Tokens of one request. */
export interface TokenUsage {
  prompt_tokens: number
  /** The part of the prompt that was in the engine's prefix cache. */
  cached_tokens: number
  completion_tokens: number
  /** The part of the completion that was reasoning. */
  reasoning_tokens: number
}

/** Fields that the engine's reply does not have. */
export interface ReplyFields {
  /** The name that the client requested. */
  model: string
  /** The engine's name for it. */
  engineModel: string
  /** Added to each choice at its end. */
  choice: Record<string, unknown>
  /** Set where each choice carries the ids that it was prompted with. */
  promptIds?: PromptIdNotes | undefined
  /** Whether the reasoning, which was requested from the engine, is left out. */
  dropsReasoning?: boolean | undefined
}

export interface RewrittenReply {
  /** The chunk for the client; undefined for one that it did not request. */
  text: string | undefined
  usage: TokenUsage | undefined
  /** How many choices it has; a chunk without one has the usage of all of them. */
  choices: number
}

/** The engine's fingerprint; undefined until a reply has named it. */
export interface Fingerprint {
  text: string | undefined
}

export interface RewriterOptions {
  /** How the chunk with nothing but the usage is handled. */
  usageChunk: 'keep' | 'drop'
  /** Shared by all replies of one engine. */
  fingerprint: Fingerprint
}

/** Rewrites a reply or the chunks of a stream, and reads its usage. */
export interface ReplyRewriter {
  /**
   * One event of a stream with the client's name for the model, where nothing else changes; undefined where more may
   * change. Most events are such, and parsing them would take longer than all other work on them. Inside a JSON
   * string every quote is escaped, so a match is always a key.
   */
  renamed(event: Buffer): Buffer | undefined
  /** @throws 503 for invalid JSON: it did not come from a working engine. */
  rewrite(text: string): RewrittenReply
}

export function createReplyRewriter(
  fields: ReplyFields,
  { usageChunk, fingerprint }: RewriterOptions,
): ReplyRewriter {
  const engineName = Buffer.from(`"model":${JSON.stringify(fields.engineModel)}`)
  const clientName = Buffer.from(`"model":${JSON.stringify(fields.model)}`)
  const promptIds = fields.promptIds && createPromptIdNoter(fields.promptIds)

  function renamed(event: Buffer): Buffer | undefined {
    if (event.indexOf(EVENT_END) !== event.length - EVENT_END.length || !event.includes(TOKEN))
      return undefined
    if (event.includes(REASONING) || event.includes(FINISH)) return undefined
    if (promptIds !== undefined && (promptIds.isWaiting() || event.includes(PROMPT_IDS))) return undefined
    const at = event.indexOf(engineName)
    if (at === -1) return undefined
    if (fields.model === fields.engineModel) return event
    return Buffer.concat([event.subarray(0, at), clientName, event.subarray(at + engineName.length)])
  }

  function rewrite(text: string): RewrittenReply {
    const keep = NUMBERS.test(text) ? KEEP : undefined
    const value = text.startsWith('{"error"') ? undefined : parsed(text, keep)
    if (!isObject(value)) return { text, usage: undefined, choices: 0 }
    const usage = usageOf(value['usage'])
    if (typeof value['system_fingerprint'] === 'string') fingerprint.text = value['system_fingerprint']
    const choices = Array.isArray(value['choices']) ? value['choices'].filter(isObject) : []
    if (choices.length === 0 && usageChunk === 'drop' && usage !== undefined)
      return { text: undefined, usage, choices: 0 }
    if ('model' in value) value['model'] = fields.model
    promptIds?.note(value, choices)
    for (const choice of choices) {
      const message = choice['message'] ?? choice['delta']
      if (fields.dropsReasoning === true) dropReasoning(message)
      else addReasoningContent(message)
      if (choice['finish_reason'] == null) continue
      Object.assign(choice, fields.choice)
      // Wire: the fingerprint is on the chunk of usage, and at the end of each choice where there is none.
      if (usageChunk === 'drop' && fingerprint.text !== undefined)
        value['system_fingerprint'] ??= fingerprint.text
    }
    const rewritten = keep === undefined ? JSON.stringify(value) : stringify(value)
    return { text: rewritten, usage, choices: choices.length }
  }

  return { renamed, rewrite }
}

function parsed(text: string, keep: KeepShape | undefined): unknown {
  try {
    return parseKeeping(text, keep)
  } catch (error) {
    throw dependencyFailed('The inference engine sent something that is not JSON', error)
  }
}

/** Lists of numbers, whose text must be kept. A text without any is parsed plainly, at a quarter of the cost. */
const NUMBERS = /(?:logprobs|token_ids)":[[{]/

const EVENT_END = Buffer.from('\n\n')
const TOKEN = Buffer.from('"finish_reason":null')
const FINISH = Buffer.from('"finish_reason":"')
const REASONING = Buffer.from('"reasoning":')

/** Wire: clients know the text as `reasoning_content`, newer engines send it as `reasoning`. */
function addReasoningContent(message: unknown): void {
  if (isObject(message) && 'reasoning' in message) message['reasoning_content'] = message['reasoning']
}

function dropReasoning(message: unknown): void {
  if (isObject(message)) delete message['reasoning']
}

/** The last usage in the end of a reply. Inside a JSON string every quote is escaped, so a match is always a key. */
export function usageAtEnd(end: string): TokenUsage | undefined {
  const [, text] = [...end.matchAll(/"usage":\s*(\{(?:[^{}]|\{[^{}]*\})*\})/g)].at(-1) ?? []
  try {
    return text === undefined ? undefined : usageOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** The usage in a completion; undefined for anything else. */
export function usageOf(value: unknown): TokenUsage | undefined {
  if (value == null) return undefined
  const parsed = Usage.safeParse(value)
  if (!parsed.success) return undefined
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = parsed.data
  return {
    prompt_tokens,
    cached_tokens: prompt_tokens_details?.cached_tokens ?? 0,
    completion_tokens: completion_tokens ?? 0,
    reasoning_tokens: completion_tokens_details?.reasoning_tokens ?? 0,
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && !(value instanceof JsonText)
}
