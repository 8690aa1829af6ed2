import { z } from 'zod'
import { invalidRequest } from '../errors.ts'
import { BadAnswer } from '../inference/playground/answer-errors.ts'
import { filledInputs } from '../inference/playground/prompt.ts'
import { parseAnswer } from '../inference/playground/read-answer.ts'
import { type CompletionInputs, Message } from '../inference/playground/wire.ts'
import type { Objects } from '../trace/objects/service.ts'
import type { Ask } from './ask.ts'

const Params = z.looseObject({
  messages_template: z.array(Message).nullish(),
  prompt: z.string().nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  max_tokens: z.int().nullish(),
  presence_penalty: z.number().nullish(),
  frequency_penalty: z.number().nullish(),
  stop: z.array(z.string()).nullish(),
  n_times: z.int().nullish(),
  functions: z.array(z.unknown()).nullish(),
  response_format: z.enum(['json_object', 'json_schema', 'text']).nullish(),
})

/** The value of an `LLMStructuredCompletionModel` as clients publish it. */
export const StructuredCompletionModel = z.looseObject({
  _class_name: z.literal('LLMStructuredCompletionModel'),
  name: z.string().nullish(),
  llm_model_id: z.string().min(1),
  default_params: Params.nullish(),
})
export type StructuredCompletionModel = z.output<typeof StructuredCompletionModel>

/** The input of a row: the user's words, and values for the template's placeholders. */
export interface ModelInput {
  user_input?: unknown
  template_vars: Record<string, unknown>
}

/**
 * Asks the model that an `LLMStructuredCompletionModel` names: its template first, with placeholders filled in, then
 * the user's messages. The answer is a text, or with `response_format: json_object` the parsed JSON.
 * @throws ClientError for input that makes no messages, and for an invalid answer.
 */
export async function predictStructured(
  { llm_model_id: model, default_params }: StructuredCompletionModel,
  input: ModelInput,
  { ask, ...prompts }: { ask: Ask; projectId: string; objects: Pick<Objects, 'read'> },
): Promise<unknown> {
  const {
    messages_template,
    prompt,
    response_format,
    n_times: n,
    functions,
    stop,
    ...sampling
  } = default_params ?? {}
  const template: CompletionInputs = {
    ...fieldsOf(sampling),
    model,
    n,
    // Wire: the service takes an empty list for none.
    functions: functions?.length ? functions : undefined,
    stop: stop?.length ? stop : undefined,
    response_format: response_format === 'json_object' ? { type: 'json_object' } : undefined,
    prompt,
    messages: prompt == null ? (messages_template ?? []).map(fieldsOf) : [],
    template_vars: input.template_vars,
  }
  const filled = await filledInputs(template, prompts)
  const messages = [...filled.messages, ...messagesOf(input.user_input)]
  if (messages.length === 0)
    throw invalidRequest('Nothing to ask: the row has no user_input, and the model no messages')
  const content = await ask({ ...filled, messages })
  return response_format === 'json_object' ? parsedContent(content) : textContent(content)
}

/** Wire: a text is the user's message; an object is a message; a list is several of either. */
function messagesOf(input: unknown): Message[] {
  if (input === undefined || input === null) return []
  const items: unknown[] = Array.isArray(input) ? input : [input]
  return items.map((item) => {
    if (typeof item === 'string') return { role: 'user', content: item }
    const message = Message.safeParse(item)
    if (!message.success) throw invalidRequest('user_input must be a text, a message, or a list of those')
    return fieldsOf(message.data)
  })
}

/** The members that a model is sent: not what marks the class of the stored value, and nothing that is null. */
function fieldsOf(value: Record<string, unknown>): Message {
  return Object.fromEntries(
    Object.entries(value).filter(([key, member]) => !key.startsWith('_') && member != null),
  )
}

function textContent(content: unknown): unknown {
  if (content === null || content === undefined) throw new BadAnswer('The model answered without text')
  return content
}

function parsedContent(content: unknown): unknown {
  const text = String(textContent(content))
  return parseAnswer(text, `The model was asked for JSON and answered ${shown(content)}`)
}

/** Answers are quoted in errors up to this. */
const SHOWN_CHARS_MAX = 200

function shown(content: unknown): string {
  return JSON.stringify(String(content).slice(0, SHOWN_CHARS_MAX))
}
