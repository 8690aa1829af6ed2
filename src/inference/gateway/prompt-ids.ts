import { isRecord } from '../../is-record.ts'
import { JsonText } from '../../lossless-json.ts'

/**
 * What a reply says of the token ids that the policy was prompted with. Only choices travel into training, so the ids
 * stand on each of them (docs/rl-quirks.md).
 */
export interface PromptIdNotes {
  /** Whether the engine's own member of the reply is passed on: the client asked for it. */
  isAsked: boolean
}

/** Where the engine's text names what a reply was prompted with. */
export const PROMPT_IDS = 'prompt_token_ids'

/** Notes the ids of one reply or stream. Choices keep what the engine sent: the ids are never parsed. */
export function createPromptIdNoter({ isAsked }: PromptIdNotes) {
  /** By the index of choices whose first token has not come yet. */
  const awaited = new Map<unknown, JsonText>()

  return {
    /** Whether the next token of a stream has to carry the ids. */
    isWaiting: () => awaited.size > 0,

    /** @param reply a whole reply, or a chunk of a stream, whose ids and logprobs are text */
    note(reply: Record<string, unknown>, choices: readonly Record<string, unknown>[]): void {
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
    },
  }
}

/** Wire: clients that put a stream together keep no unknown member of its choices, but those of its tokens. */
function withIds(logprobs: string, ids: string): string | undefined {
  const [found] = FIRST_TOKEN.exec(logprobs) ?? []
  return found === undefined ? undefined : `${found}"${PROMPT_IDS}":${ids},${logprobs.slice(found.length)}`
}

const FIRST_TOKEN = /^\{\s*"content":\s*\[\s*\{/
