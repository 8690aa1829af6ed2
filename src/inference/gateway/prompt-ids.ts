import { isRecord } from '../../json/is-record.ts'
import { JsonText } from '../../json/lossless-json.ts'

/**
 * The token ids of the prompt in a reply. Only choices reach training, so each of them carries the ids
 * (docs/rl-quirks.md).
 */
export interface PromptIdNotes {
  /** Whether the engine's member of the reply is passed on: the client requested it. */
  isAsked: boolean
}

/** Where the engine's text has the token ids of the prompt. */
export const PROMPT_IDS = 'prompt_token_ids'

/** Keeps the ids of one reply or stream as the engine's text: they are never parsed. */
export interface PromptIdNoter {
  /** Whether the next token of a stream has to carry the ids. */
  isWaiting(): boolean
  /** @param reply a whole reply, or a chunk of a stream, whose ids and logprobs are text */
  note(reply: Record<string, unknown>, choices: readonly Record<string, unknown>[]): void
}

export function createPromptIdNoter({ isAsked }: PromptIdNotes): PromptIdNoter {
  /** By the index of choices whose first token has not arrived yet. */
  const awaited = new Map<unknown, JsonText>()

  function note(reply: Record<string, unknown>, choices: readonly Record<string, unknown>[]): void {
    const ids = reply[PROMPT_IDS]
    if (!isAsked) delete reply[PROMPT_IDS]
    for (const choice of choices) {
      if (ids instanceof JsonText) {
        choice[PROMPT_IDS] = ids
        if (isRecord(choice['delta'])) awaited.set(choice['index'], ids)
      }
      const logprobs = choice['logprobs']
      const waiting = awaited.get(choice['index'])
      if (waiting === undefined || !(logprobs instanceof JsonText)) continue
      const noted = withIds(logprobs.text, waiting.text)
      if (noted === undefined) continue
      choice['logprobs'] = new JsonText(noted)
      awaited.delete(choice['index'])
    }
  }

  return { isWaiting: () => awaited.size > 0, note }
}

/** Wire: clients that assemble a stream drop unknown members of its choices, but keep those of its tokens. */
function withIds(logprobs: string, ids: string): string | undefined {
  const [found] = FIRST_TOKEN.exec(logprobs) ?? []
  return found === undefined ? undefined : `${found}"${PROMPT_IDS}":${ids},${logprobs.slice(found.length)}`
}

const FIRST_TOKEN = /^\{\s*"content":\s*\[\s*\{/
