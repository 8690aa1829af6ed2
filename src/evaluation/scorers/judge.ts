import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { isRecord } from '../../is-record.ts'
import { pythonFormat } from '../python-format.ts'
import type { MediaKind } from './judge-media.ts'

const Prompt = z.looseObject({ messages: z.array(z.looseObject({ content: z.unknown() })) })

/** Places where a judge looks for media: it is asked about as many at most. */
const PATHS_MAX = 32

/** The value of an `LLMAsAJudgeScorer` as clients publish it; the model may be a ref to one, or stand in it. */
export const Judge = z.looseObject({
  name: z.string().nullish(),
  model: z.unknown(),
  scoring_prompt: z.union([z.string(), Prompt]),
  column_map: z.record(z.string(), z.string()).nullish(),
  enable_image_input_scoring: z.boolean().nullish(),
  enable_audio_input_scoring: z.boolean().nullish(),
  enable_video_input_scoring: z.boolean().nullish(),
  media_scoring_json_paths: z.array(z.string()).max(PATHS_MAX).nullish(),
})
export type Judge = z.output<typeof Judge>

/** The prompt of a judge. @throws 400 for a placeholder without a value. */
export function judgeMessages(
  { scoring_prompt, column_map }: Judge,
  { output, inputs }: { output: unknown; inputs: Record<string, unknown> },
): unknown[] {
  const mapped = Object.entries(column_map ?? {}).map(([name, column]) => [name, inputs[column]] as const)
  const values = { inputs, ...inputs, ...Object.fromEntries(mapped), output }
  if (typeof scoring_prompt === 'string')
    return [{ role: 'user', content: pythonFormat(scoring_prompt, values) }]
  return scoring_prompt.messages.map((message) => ({
    ...message,
    content: formatted(message.content, values),
  }))
}

/** The kinds of media that a judge receives. */
export function mediaKindsOf(judge: Judge): ReadonlySet<MediaKind> {
  return new Set([
    ...(judge.enable_image_input_scoring ? (['image'] as const) : []),
    ...(judge.enable_audio_input_scoring ? (['audio'] as const) : []),
    ...(judge.enable_video_input_scoring ? (['video'] as const) : []),
  ])
}

/** Messages whose last has the parts as well. */
export function withParts(messages: readonly unknown[], parts: readonly object[]): unknown[] {
  const last = messages.at(-1)
  if (parts.length === 0 || !isRecord(last)) return [...messages]
  const { content } = last
  const own: unknown[] = Array.isArray(content) ? content : [{ type: 'text', text: content }]
  return [...messages.slice(0, -1), { ...last, content: [...own, ...parts] }]
}

function formatted(content: unknown, values: Record<string, unknown>): unknown {
  if (typeof content === 'string') return pythonFormat(content, values)
  if (!Array.isArray(content)) return content
  return content.map((part: unknown) => {
    if (typeof part !== 'object' || part === null)
      throw invalidRequest('A prompt has a part that is no object')
    return 'text' in part && typeof part.text === 'string'
      ? { ...part, text: pythonFormat(part.text, values) }
      : part
  })
}
