import { queryOptions } from '@tanstack/react-query'
import { ask, askJson, isMissing, textLines } from './client.ts'
import { encodedProject, PROJECT_HEADER, type ProjectName } from './project.ts'
import type { ToolCall } from './tool-call.ts'
import type { Json } from './wire.ts'

export interface ChatMessage {
  role: string
  content?: Json
  name?: string | undefined
  tool_call_id?: string | undefined
  tool_calls?: ToolCall[] | undefined
  reasoning?: string | null | undefined
}

/** All fields of the request but `stream`. */
export interface ChatRequest {
  model: string
  messages: readonly ChatMessage[]
  [parameter: string]: unknown
}

export interface TokenLogprob {
  token: string
  logprob: number | null
}

/** What one chunk of a stream adds. */
export interface Delta {
  content?: string | null
  reasoning?: string | null
  tool_calls?: { index?: number; id?: string; function?: { name?: string; arguments?: string } }[]
}

export interface Chunk {
  id?: string
  choices?: {
    delta?: Delta
    finish_reason?: string | null
    logprobs?: { content?: TokenLogprob[] | null } | null
    policy?: { step: number; biased_by: string[] }
  }[]
  usage?: Usage | null
  error?: { message?: string }
}

export interface Usage {
  prompt_tokens: number
  completion_tokens?: number | null
  prompt_tokens_details?: { cached_tokens?: number | null } | null
}

/** An answer as it arrives, which counts for a project. Closing the connection ends the generation. */
export async function* streamChat(
  request: ChatRequest,
  { project, signal }: { project: ProjectName; signal: AbortSignal },
): AsyncGenerator<Chunk> {
  const body = { ...request, stream: true, stream_options: { include_usage: true } }
  const headers = { [PROJECT_HEADER]: encodedProject(project) }
  for await (const line of textLines('/v1/chat/completions', { body, headers, signal })) {
    if (!line.startsWith('data:')) continue
    const text = line.slice('data:'.length).trim()
    if (text === '[DONE]') return
    yield JSON.parse(text) as Chunk
  }
}

/** One token of a conversation with the log-probability that a model gives it; null for the first. */
export interface ScoredToken {
  id: number
  text: string
  logprob: number | null
}

interface Conversation {
  model: string
  messages: readonly ChatMessage[]
  tools?: Json | undefined
}

/**
 * The log-probabilities that a model gives a conversation, token by token. The last message must be the assistant's.
 * `answerFrom` is the first token of that answer, which the model sampled and which is trained.
 */
export async function scoreConversation(
  { model, messages, tools }: Conversation,
  { signal }: { signal: AbortSignal },
): Promise<{ tokens: ScoredToken[]; answerFrom: number }> {
  const shared = { model, ...(tools != null && { tools }) }
  const [scored, prefix] = await Promise.all([
    askJson<{ prompt_logprobs?: (Record<string, PromptToken> | null)[] | null; prompt_token_ids?: number[] }>(
      '/v1/chat/completions',
      {
        body: {
          ...shared,
          messages,
          add_generation_prompt: false,
          max_tokens: 1,
          prompt_logprobs: 0,
          return_token_ids: true,
        },
        signal,
      },
    ),
    askJson<{ count: number; token_strs?: string[] | null }>('/v1/tokenize', {
      body: {
        ...shared,
        messages: messages.slice(0, -1),
        add_generation_prompt: true,
        return_token_strs: true,
      },
      signal,
    }),
  ])
  const ids = scored.prompt_token_ids ?? []
  const tokens = (scored.prompt_logprobs ?? []).map((entry, index): ScoredToken => {
    const [[key, token] = []] = Object.entries(entry ?? {})
    return {
      id: ids[index] ?? Number(key ?? -1),
      // Nothing comes before the first token, so it has no probability, and the engine leaves it out.
      text: token?.decoded_token ?? (index === 0 ? prefix.token_strs?.[0] : undefined) ?? '',
      logprob: token?.logprob ?? null,
    }
  })
  return { tokens, answerFrom: prefix.count }
}

interface PromptToken {
  logprob: number
  decoded_token: string
}

/** Wire: prefix of the names of trained models; it may be left out. */
const ARTIFACT_PREFIX = 'wandb-artifact:///'

/** Names of all models: base models, and trained ones, which stand for their newest step. */
export const servedModelsQuery = queryOptions({
  queryKey: ['served-models'],
  queryFn: async ({ signal }) => {
    const { data } = await askJson<{ data: { id: string }[] }>('/v1/models', { signal })
    return data.map(({ id }) => (id.startsWith(ARTIFACT_PREFIX) ? id.slice(ARTIFACT_PREFIX.length) : id))
  },
})

/** Whether requests may name a model: a base model, or a step of a trained one. */
export function isServedQuery(model: string) {
  return queryOptions({
    queryKey: ['served-models', model],
    queryFn: async ({ signal }): Promise<boolean> => {
      try {
        await ask(`/v1/models/${encodeURIComponent(model)}`, { signal })
        return true
      } catch (error) {
        if (error instanceof Error && isMissing(error)) return false
        throw error
      }
    },
  })
}
