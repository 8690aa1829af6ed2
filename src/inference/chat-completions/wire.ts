import { z } from 'zod'
import { listOf } from '../../wire/bounded-wire.ts'
import { isWellFormed } from '../../wire/well-formed-wire.ts'
import { asWritten } from '../as-written-wire.ts'
import { Policy, Schema, samplingFields } from '../sampling-wire.ts'

/** Far above what fits the window of any model. */
export const MESSAGES_MAX = 100_000

/** Of one message or request: texts, images, tools, calls. */
const PARTS_MAX = 10_000

/** No tokenizer takes half a character. */
const Text = z.string().refine(isWellFormed, 'The text has a surrogate without its other half')

const Part = z.looseObject({ type: z.string(), text: Text.nullish() })

/** Wire: any role is taken, and what else a message holds depends on it. */
const Message = z
  .looseObject({
    role: z.string(),
    content: z.union([Text, listOf(Part, PARTS_MAX)]).nullish(),
    name: z.string().nullish(),
    tool_call_id: z.string().nullish(),
    tool_calls: listOf(asWritten(z.looseObject({})), PARTS_MAX).nullish(),
    tools: listOf(asWritten(z.looseObject({})), PARTS_MAX).nullish(),
  })
  .meta({ id: 'ChatMessage' })
export type ChatMessage = z.output<typeof Message>

const Tool = asWritten(
  z.looseObject({
    type: z.literal('function'),
    function: z.looseObject({
      name: z.string(),
      description: z.string().nullish(),
      parameters: Schema.nullish(),
    }),
  }),
).meta({ id: 'ChatTool' })

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
])

const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** Wire: every field but `messages` may be absent or null, which mean the same; unknown fields are ignored. */
export const ChatCompletionReq = z
  .object({
    messages: listOf(Message, MESSAGES_MAX),
    ...samplingFields,
    logprobs: z.boolean().nullish(),
    top_logprobs: z.int().nullish(),
    max_tokens: z.int().nullish().meta({ deprecated: true }),
    max_completion_tokens: z.int().nullish(),
    tools: listOf(Tool, PARTS_MAX).nullish(),
    tool_choice: ToolChoice.nullish(),
    parallel_tool_calls: z.boolean().nullish(),
    reasoning_effort: z.enum(REASONING_EFFORTS).nullish(),
    include_reasoning: z.boolean().nullish(),
    add_generation_prompt: z.boolean().nullish(),
    continue_final_message: z.boolean().nullish(),
    documents: listOf(asWritten(z.looseObject({})), MESSAGES_MAX).nullish(),
    return_prompt_text: z.boolean().nullish(),
    chat_template: z.string().nullish(),
    chat_template_kwargs: asWritten(z.looseObject({})).nullish(),
    mm_processor_kwargs: z.looseObject({}).nullish(),
  })
  .meta({ id: 'ChatCompletionRequest' })
export type ChatCompletionReq = z.output<typeof ChatCompletionReq>

const Usage = z
  .looseObject({
    prompt_tokens: z.int(),
    total_tokens: z.int(),
    completion_tokens: z.int(),
    prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).nullish(),
  })
  .meta({ id: 'ChatUsage' })

const LogprobsItem = z.looseObject({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.int()).nullish(),
})

const Choice = z
  .looseObject({
    index: z.int(),
    message: z.looseObject({
      role: z.string(),
      content: z.string().nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(z.looseObject({})).optional(),
      reasoning: z.string().nullish(),
      reasoning_content: z.string().nullish(),
    }),
    logprobs: z
      .looseObject({
        content: z.array(LogprobsItem.extend({ top_logprobs: z.array(LogprobsItem) })).nullish(),
      })
      .nullish(),
    finish_reason: z.string().nullish(),
    stop_reason: z.union([z.int(), z.string()]).nullish(),
    token_ids: z.array(z.int()).nullish(),
    policy: Policy,
  })
  .meta({ id: 'ChatChoice' })

/** The engine's reply, passed on; a stream of `data:` lines when `stream` is true. */
export const ChatCompletionRes = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(Choice),
    usage: Usage,
    service_tier: z.string().nullish(),
    system_fingerprint: z.string().nullish(),
    prompt_logprobs: z.array(z.looseObject({}).nullable()).nullish(),
    prompt_token_ids: z.array(z.int()).nullish(),
    kv_transfer_params: z.looseObject({}).nullish(),
  })
  .meta({ id: 'ChatCompletion' })
