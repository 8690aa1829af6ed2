import { z } from 'zod'
import { JsonObject } from '../../wire/json-text-wire.ts'

const NullishString = z.string().nullish()
const NullishNumber = z.number().nullish()
const NullishInt = z.int().nullish()
const NullishObject = z.looseObject({}).nullish()

export const Message = z.looseObject({}).meta({ id: 'PlaygroundMessage' })
export type Message = z.output<typeof Message>

/** The request to the model; fields that are not named here are passed on. Wire: null means absent. */
const CompletionInputs = z
  .looseObject({
    model: z.string(),
    messages: z.array(Message).default([]),
    prompt: NullishString.meta({ description: 'Ref of a prompt whose messages come first' }),
    template_vars: NullishObject.meta({ description: 'Values for {name} in messages' }),
    timeout: z.union([z.number(), z.string()]).nullish().meta({ description: 'Seconds' }),
    temperature: NullishNumber,
    top_p: NullishNumber,
    n: NullishInt,
    stop: z.union([z.string(), z.array(z.unknown())]).nullish(),
    max_completion_tokens: NullishInt,
    max_tokens: NullishInt,
    modalities: z.array(z.unknown()).nullish(),
    presence_penalty: NullishNumber,
    frequency_penalty: NullishNumber,
    stream: z.boolean().nullish(),
    logit_bias: NullishObject,
    user: NullishString,
    response_format: z.unknown().optional(),
    seed: NullishInt,
    tools: z.array(z.unknown()).nullish(),
    tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
    logprobs: z.boolean().nullish(),
    top_logprobs: NullishInt,
    parallel_tool_calls: z.boolean().nullish(),
    functions: z.array(z.unknown()).nullish(),
    function_call: NullishString,
    reasoning_effort: NullishString,
    extra_headers: NullishObject,
    api_version: NullishString,
    vertex_credentials: NullishString,
  })
  .meta({ id: 'CompletionInputs' })
export type CompletionInputs = z.output<typeof CompletionInputs>

export const CompletionsCreateReq = z.object({
  project_id: z.string(),
  inputs: CompletionInputs,
  /** Wire: null means tracked, as absent does. */
  track_llm_call: z.boolean().nullish(),
  trace_id: NullishString,
  parent_id: NullishString,
  conversation_id: NullishString,
  conversation_name: NullishString,
  source: NullishString,
  /** Wire: names a dedicated deployment of the hosted service. */
  inference_route: z
    .null({ error: 'There are no dedicated deployments here: leave inference_route out' })
    .optional(),
})
export type CompletionsCreateReq = z.output<typeof CompletionsCreateReq>

/** Wire: what went wrong is a text in `error` of the response, and the status is 200. */
export const CompletionsCreateRes = z.object({
  response: JsonObject,
  weave_call_id: z.string().nullable(),
  trace_id: z.string().nullable(),
  conversation_id: z.string().nullable(),
  span_id: z.string().nullable(),
})
export type CompletionsCreateRes = z.input<typeof CompletionsCreateRes>

/** One line of a stream: a chunk as OpenAI's API has it, or one of these. */
export const CompletionsLine = z.looseObject({
  _meta: z
    .object({
      weave_call_id: z.string(),
      trace_id: z.string(),
      conversation_id: z.string().optional(),
    })
    .optional(),
  error: z.string().optional(),
})

export const ImageCreateReq = z.object({
  project_id: z.string(),
  inputs: z.looseObject({ model: z.string(), prompt: z.string(), n: NullishInt }).meta({ id: 'ImageInputs' }),
  track_llm_call: z.boolean().nullish(),
})
export type ImageCreateReq = z.output<typeof ImageCreateReq>

export const ImageCreateRes = z.object({ response: JsonObject, weave_call_id: z.string().nullable() })
export type ImageCreateRes = z.input<typeof ImageCreateRes>
