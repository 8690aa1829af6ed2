import { isRecord } from '../../json/is-record.ts'
import { JsonNumber, type LosslessJson } from '../../json/lossless-json.ts'
import { isoMicros } from '../../time.ts'

type Json = { [key: string]: LosslessJson }

/** One answer to a request, as a choice of a chat completion, and as the message that later requests repeat. */
export interface Answer {
  choice: Json
  message: Json
}

/** A recorded request in the form of a chat completion; the client may have used another API. */
export interface Asked {
  /** Its start, in UTC with microseconds, so that texts sort as times do; empty where not known. */
  at: string
  messages: LosslessJson[]
  tools: LosslessJson
  answers: Answer[]
}

/** The requests of all lists of exchanges, checked before. */
export function askedOf(exchanges: LosslessJson): Asked[] {
  return Object.entries(PROTOCOLS).flatMap(([name, read]) =>
    objectsOf(recordOf(exchanges)[name]).flatMap(read),
  )
}

const PROTOCOLS: Record<string, (exchange: Json) => Asked[]> = {
  chat_completions: (exchange) => [chatCompletion(exchange)],
  completions,
  responses: (exchange) => [response(exchange)],
  messages: (exchange) => [anthropicMessage(exchange)],
}

function chatCompletion(exchange: Json): Asked {
  const { request, response: reply, at } = partsOf(exchange)
  const { messages, tools, ...settings } = request
  const { choices, ...rest } = reply
  const answers = objectsOf(choices).map((choice) => {
    const message = recordOf(choice['message'])
    const sampled = { ...choice, finish_reason: choice['finish_reason'] ?? null, message }
    return { choice: noted(sampled, rest, { settings, rest, exchange }), message }
  })
  return { at, messages: listOf(messages), tools: tools ?? null, answers }
}

/** Text completions have no messages: the prompt counts as one, and training uses its token ids alone. */
function completions(exchange: Json): Asked[] {
  const { request, response: reply, at } = partsOf(exchange)
  const { prompt, ...settings } = request
  const { choices, ...rest } = reply
  const prompts = isPromptList(prompt) ? listOf(prompt) : [prompt ?? '']
  const all = objectsOf(choices)
  const perPrompt = Math.max(1, Math.ceil(all.length / prompts.length))
  return prompts.map((asked, number) => {
    const answers = all.slice(number * perPrompt, (number + 1) * perPrompt).map((choice) => {
      const { text, logprobs, ...others } = choice
      const message = { role: 'assistant', content: text ?? '' }
      const ids = Array.isArray(asked) ? { prompt_token_ids: asked } : {}
      const sampled = {
        ...ids,
        ...others,
        finish_reason: choice['finish_reason'] ?? null,
        message,
        logprobs: tokensOf(logprobs),
        text_completion: true,
      }
      const whole = noted(sampled, rest, { settings, rest, exchange })
      return { choice: settings['echo'] === true ? withoutEcho(whole) : whole, message }
    })
    return { at, messages: [{ role: 'user', content: asked }], tools: null, answers }
  })
}

/** Wire: a list of texts or of lists of ids is several prompts; a list of ids is one. */
function isPromptList(prompt: LosslessJson | undefined): boolean {
  return Array.isArray(prompt) && prompt.some((item) => typeof item === 'string' || Array.isArray(item))
}

/** Wire: completions have their logprobs as lists side by side. */
function tokensOf(logprobs: LosslessJson | undefined): LosslessJson {
  const { tokens, token_logprobs } = recordOf(logprobs)
  if (!Array.isArray(tokens)) return null
  const values = listOf(token_logprobs)
  return { content: tokens.map((token, index) => ({ token, logprob: values[index] ?? null })) }
}

/** Wire: with `echo` the log-probabilities of the prompt come first; those of what was sampled are kept. */
function withoutEcho(choice: Json): Json {
  const { logprobs, prompt_token_ids } = choice
  if (!isRecord(logprobs)) return choice
  const tokens = listOf(recordOf(logprobs)['content'])
  return { ...choice, logprobs: { content: tokens.slice(listOf(prompt_token_ids).length) } }
}

function response(exchange: Json): Asked {
  const { request, response: reply, at } = partsOf(exchange)
  const { input, instructions, tools, ...settings } = request
  const { output, ...rest } = reply
  const asked =
    typeof input === 'string' ? [{ role: 'user', content: input }] : objectsOf(input).map(messageOfItem)
  const system = typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []
  const items = objectsOf(output)
  const parts = items.flatMap((item) => (item['type'] === 'message' ? objectsOf(item['content']) : []))
  const tokens = parts.flatMap((part) => listOf(part['logprobs']))
  const calls = items.filter(({ type }) => type === 'function_call').map(callOfItem)
  const content = parts.map((part) => part['text'] ?? '').join('')
  const message = assistantMessage(content, calls)
  const choice = {
    ...outcome(reply['status']),
    message,
    logprobs: tokens.length > 0 ? { content: tokens } : null,
    output: output ?? [],
  }
  const answer = { choice: noted(choice, rest, { settings, rest, exchange }), message }
  return { at, messages: [...system, ...asked], tools: tools ?? null, answers: [answer] }
}

function messageOfItem(item: Json): LosslessJson {
  if (item['type'] === 'function_call') return assistantMessage('', [callOfItem(item)])
  if (item['type'] === 'function_call_output')
    return { role: 'tool', tool_call_id: item['call_id'] ?? null, content: item['output'] ?? '' }
  return item
}

function callOfItem({ call_id, name, arguments: given }: Json): Json {
  return { id: call_id ?? null, type: 'function', function: { name: name ?? null, arguments: given ?? '{}' } }
}

function anthropicMessage(exchange: Json): Asked {
  const { request, response: reply, at } = partsOf(exchange)
  const { messages, system, tools, ...settings } = request
  const { content, stop_reason, ...rest } = reply
  const blocks = objectsOf(content)
  const text = blocks.flatMap(({ type, text: words }) => (type === 'text' ? [words ?? ''] : [])).join('')
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({
      id: id ?? null,
      type: 'function',
      function: { name: name ?? null, arguments: input ?? {} },
    }))
  const message = assistantMessage(text, calls)
  const choice = { ...outcome(stop_reason), message, logprobs: null, content: content ?? [] }
  const answer = { choice: noted(choice, rest, { settings, rest, exchange }), message }
  const first = system == null ? [] : [{ role: 'system', content: system }]
  return { at, messages: [...first, ...listOf(messages)], tools: tools ?? null, answers: [answer] }
}

function assistantMessage(content: string, calls: Json[]): Json {
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

function outcome(reason: LosslessJson | undefined): Json {
  return { index: new JsonNumber('0'), finish_reason: typeof reason === 'string' ? reason : null }
}

/** A choice with the ids that its reply has once for all of them, and the rest of the request and reply. */
function noted(
  choice: Json,
  reply: Json,
  { settings, rest, exchange }: { settings: Json; rest: Json; exchange: Json },
): Json {
  const { prompt_token_ids, token_ids, ...about } = rest
  const { start_time = null, end_time = null } = exchange
  return {
    ...(prompt_token_ids != null && { prompt_token_ids }),
    ...(token_ids != null && { token_ids }),
    ...choice,
    ...(choice['prompt_token_ids'] == null &&
      reply['prompt_token_ids'] != null && { prompt_token_ids: reply['prompt_token_ids'] }),
    exchange: { start_time, end_time, request: settings, response: about },
  }
}

function partsOf(exchange: Json): { request: Json; response: Json; at: string } {
  const { request, response: reply, start_time } = exchange
  return {
    request: recordOf(request),
    response: recordOf(reply),
    at: typeof start_time === 'string' ? (isoMicros(start_time) ?? '') : '',
  }
}

function recordOf(value: LosslessJson | undefined): Json {
  return isRecord(value) && !(value instanceof JsonNumber) ? (value as Json) : {}
}

function objectsOf(value: LosslessJson | undefined): Json[] {
  return listOf(value).map(recordOf)
}

function listOf(value: LosslessJson | undefined): LosslessJson[] {
  return Array.isArray(value) ? value : []
}
