import { z } from 'zod'
import { countFilledChars, type FilledChars } from '../../filled-templates.ts'
import { isRecord } from '../../json/is-record.ts'
import { ColumnMap, withMapped } from '../../rule-threads/column-map.ts'
import { pythonFormat } from '../python-format.ts'
import type { MediaKind } from './judge-media.ts'

const NO_PROMPT = 'is neither a text nor a StringPrompt or a MessagesPrompt'

/** A text, which becomes the message of a user, or messages; as such or in a prompt as clients publish it. */
export const JudgePrompt = z.union(
  [
    z.string(),
    z.looseObject({ content: z.string() }).transform(({ content }) => content),
    z.looseObject({ messages: z.array(z.looseObject({})) }).transform(({ messages }) => messages),
  ],
  { error: NO_PROMPT },
)
export type JudgePrompt = z.output<typeof JudgePrompt>

/** Places where a judge looks for media: it is asked about as many at most. */
const PATHS_MAX = 32

/** The value of an `LLMAsAJudgeScorer` as clients publish it; model and prompt may be refs, or stand in it. */
export const Judge = z.looseObject({
  name: z.string().nullish(),
  model: z.unknown(),
  scoring_prompt: z.unknown(),
  column_map: ColumnMap,
  enable_image_input_scoring: z.boolean().nullish(),
  enable_audio_input_scoring: z.boolean().nullish(),
  enable_video_input_scoring: z.boolean().nullish(),
  media_scoring_json_paths: z.array(z.string()).max(PATHS_MAX).nullish(),
})
export type Judge = z.output<typeof Judge>

/**
 * What a judge is asked.
 * @param filled counts the characters of a question that has other messages as well
 * @throws 400 for a placeholder without a value, 413 for more than a question may have
 */
export function judgeMessages(
  { judge: { column_map }, prompt }: { judge: Judge; prompt: JudgePrompt },
  { output, inputs }: { output: unknown; inputs: Record<string, unknown> },
  filled: FilledChars = countFilledChars(),
): Record<string, unknown>[] {
  const values = { inputs, ...withMapped(inputs, column_map), output }
  const messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt
  const format = pythonFormat(values, filled)
  return messages.map((message) => formatted(message, format))
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

/** Wire: placeholders are filled in everywhere in a message and in the parts of its content. */
function formatted(
  message: Record<string, unknown>,
  format: (template: string) => string,
): Record<string, unknown> {
  const filled = (value: unknown): unknown => {
    if (typeof value === 'string') return format(value)
    return Array.isArray(value) && value.every(isRecord)
      ? value.map((part) => formatted(part, format))
      : value
  }
  return Object.fromEntries(Object.entries(message).map(([name, value]) => [name, filled(value)]))
}
