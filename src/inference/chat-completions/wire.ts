import { z } from 'zod'

const Message = z
  .looseObject({ role: z.string() })
  .meta({ id: 'ChatMessage', description: 'content, tool_calls, tool_call_id, name … by role' })

const Tool = z
  .looseObject({
    type: z.literal('function'),
    function: z.looseObject({ name: z.string() }),
  })
  .meta({ id: 'ChatTool' })

const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }),
])

const ResponseFormat = z
  .looseObject({
    type: z.enum(['text', 'json_object', 'json_schema', 'structural_tag']),
    json_schema: z.looseObject({ name: z.string() }).nullish(),
  })
  .meta({ id: 'ChatResponseFormat' })

const StructuredOutputs = z.looseObject({}).meta({ id: 'ChatStructuredOutputs' })

const EngineArgs = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.union([z.string(), z.number()]))]),
)

/** Sampling fields that OpenAI's API knows. */
const openAiFields = {
  messages: z.array(Message),
  model: z.string().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().nullish(),
  max_tokens: z.int().nullish(),
  max_completion_tokens: z.int().nullish(),
  n: z.int().nullish(),
  response_format: ResponseFormat.nullish(),
  // Wire: up to 64 bits, so not z.int().
  seed: z.number().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .object({ include_usage: z.boolean().nullish(), continuous_usage_stats: z.boolean().nullish() })
    .nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().nullish(),
  tools: z.array(Tool).nullish(),
  tool_choice: ToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning_effort: z.string().nullish(),
  user: z.string().nullish(),
}

/** Fields that the inference engine adds. */
const engineFields = {
  top_k: z.int().nullish(),
  min_p: z.number().nullish(),
  repetition_penalty: z.number().nullish(),
  length_penalty: z.number().nullish(),
  use_beam_search: z.boolean().nullish(),
  include_reasoning: z.boolean().nullish(),
  stop_token_ids: z.array(z.int()).nullish(),
  include_stop_str_in_output: z.boolean().nullish(),
  ignore_eos: z.boolean().nullish(),
  min_tokens: z.int().nullish(),
  skip_special_tokens: z.boolean().nullish(),
  spaces_between_special_tokens: z.boolean().nullish(),
  truncate_prompt_tokens: z.number().nullish(),
  prompt_logprobs: z.int().nullish(),
  allowed_token_ids: z.array(z.int()).nullish(),
  bad_words: z.array(z.string()).nullish(),
  echo: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
  add_special_tokens: z.boolean().nullish(),
  documents: z.array(z.looseObject({})).nullish(),
  chat_template: z.string().nullish(),
  chat_template_kwargs: z.looseObject({}).nullish(),
  mm_processor_kwargs: z.looseObject({}).nullish(),
  structured_outputs: StructuredOutputs.nullish(),
  priority: z.int().nullish(),
  request_id: z.string().nullish(),
  logits_processors: z.array(z.unknown()).nullish(),
  return_tokens_as_token_ids: z.boolean().nullish(),
  return_token_ids: z.boolean().nullish(),
  cache_salt: z.string().nullish(),
  kv_transfer_params: z.looseObject({}).nullish(),
  vllm_xargs: EngineArgs.nullish(),
  engine_xargs: EngineArgs.nullish(),
}

/** Wire: every field but `messages` may be absent or null, which mean the same; unknown fields are ignored. */
export const ChatCompletionReq = z
  .object({ ...openAiFields, ...engineFields })
  .meta({ id: 'ChatCompletionRequest' })
export type ChatCompletionReq = z.output<typeof ChatCompletionReq>

/** The engine's reply, passed on; a stream of `data:` lines when `stream` is true. */
export const ChatCompletionRes = z
  .looseObject({
    id: z.string(),
    object: z.literal('chat.completion'),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        message: z.looseObject({ role: z.string(), content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    ),
    usage: z.looseObject({
      prompt_tokens: z.int(),
      total_tokens: z.int(),
      completion_tokens: z.int(),
    }),
  })
  .meta({ id: 'ChatCompletion' })

export const ServedModelsRes = z
  .object({
    object: z.literal('list'),
    data: z.array(
      z
        .object({
          id: z.string(),
          object: z.literal('model'),
          created: z.int(),
          owned_by: z.string(),
          root: z.string(),
          parent: z.string().nullable(),
        })
        .meta({ id: 'ServedModel' }),
    ),
  })
  .meta({ id: 'ServedModels' })
