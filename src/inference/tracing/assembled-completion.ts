import { z } from 'zod'
import { dependencyFailed } from '../../errors.ts'
import { isRecord } from '../../json/is-record.ts'

/** Characters of the texts of one answer that are kept for its call; no model writes as much. */
const ANSWER_CHARS_MAX = 32 * 1024 * 1024

/**
 * Characters of chunks from which on their other members are left out: log-probabilities take ten times the memory of
 * their JSON, of which some 250 characters are of one token.
 */
const OTHERS_CHARS_MAX = 8 * 1024 * 1024

const Text = z.string().nullish()

const ToolCall = z.looseObject({
  index: z.int().nullish(),
  id: Text,
  type: Text,
  function: z.looseObject({ name: Text, arguments: Text }).nullish(),
})

const Delta = z.looseObject({
  role: Text,
  content: Text,
  refusal: Text,
  reasoning: Text,
  reasoning_content: Text,
  tool_calls: z.array(ToolCall).nullish(),
})

/** One chunk of a completion, with the members that are read here. */
export const Chunk = z.looseObject({
  id: Text,
  created: z.number().nullish(),
  model: Text,
  choices: z
    .array(
      z.looseObject({
        index: z.int().default(0),
        delta: Delta.nullish(),
        text: Text,
        finish_reason: Text,
      }),
    )
    .nullish(),
  usage: z.looseObject({}).nullish(),
})
export type Chunk = z.output<typeof Chunk>

/** The fields of a message that come in pieces. */
const PIECES = ['content', 'refusal', 'reasoning', 'reasoning_content'] as const

interface Choice {
  role: string
  /** Of a completion without a conversation. */
  text: string | undefined
  texts: Partial<Record<(typeof PIECES)[number], string>>
  tools: Map<number, Tool>
  finish_reason: string | null
  /** All other members, such as `logprobs` and `token_ids`, which training needs; none of a long answer. */
  others: Record<string, unknown>
}

interface Tool {
  id: string | undefined
  type: string
  name: string
  arguments: string
}

/** Assembles the chunks of a stream into the completion that would have come without streaming. */
export interface Assembly {
  /** @param length of the chunk's JSON. @throws 503 for more text than any model writes. */
  add(chunk: Chunk, length: number): void
  /** The usage where the chunks do not have it. */
  count(usage: object): void
  /** The completion so far; undefined before the first chunk. */
  completion(): string | undefined
}

export function createAssembly(): Assembly {
  const choices = new Map<number, Choice>()
  let head: Pick<Chunk, 'id' | 'created' | 'model'> | undefined
  let usage: object | undefined
  let chars = 0
  let textChars = 0

  function add(chunk: Chunk, length: number): void {
    chars += length
    if (chars > OTHERS_CHARS_MAX) for (const choice of choices.values()) choice.others = {}
    head ??= { id: chunk.id, created: chunk.created, model: chunk.model }
    usage = chunk.usage ?? usage
    for (const { index, delta, text, finish_reason, ...others } of chunk.choices ?? []) {
      textChars += textCharsOf(delta, text)
      if (textChars > ANSWER_CHARS_MAX) throw dependencyFailed('The answer is too long', undefined)
      const choice = choices.get(index) ?? newChoice()
      choices.set(index, choice)
      if (delta) addDelta(choice, delta)
      if (text != null) choice.text = (choice.text ?? '') + text
      choice.finish_reason = finish_reason ?? choice.finish_reason
      if (chars <= OTHERS_CHARS_MAX) join(choice.others, others)
    }
  }

  function completion(): string | undefined {
    if (head === undefined) return undefined
    const listed = [...choices].sort(([a], [b]) => a - b)
    return JSON.stringify({
      ...head,
      object: listed.some(([, choice]) => choice.text !== undefined) ? 'text_completion' : 'chat.completion',
      choices: listed.map(([index, choice]) => ({
        index,
        ...(choice.text === undefined ? { message: messageOf(choice) } : { text: choice.text }),
        finish_reason: choice.finish_reason,
        ...choice.others,
      })),
      usage,
    })
  }

  return {
    add,
    count(given) {
      usage = given
    },
    completion,
  }
}

function newChoice(): Choice {
  return { role: 'assistant', text: undefined, texts: {}, tools: new Map(), finish_reason: null, others: {} }
}

/** Adds the members of a chunk to those before: lists continue, and of other values the last one holds. */
function join(earlier: Record<string, unknown>, later: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(later)) {
    const known = Object.hasOwn(earlier, name) ? earlier[name] : undefined
    if (isRecord(known) && isRecord(value)) join(known, value)
    else if (Array.isArray(known) && Array.isArray(value)) for (const item of value) known.push(item)
    else earlier[name] = value ?? known ?? null
  }
}

function textCharsOf(
  delta: z.output<typeof Delta> | null | undefined,
  text: string | null | undefined,
): number {
  const pieces = PIECES.map((name) => delta?.[name])
  const called = (delta?.tool_calls ?? []).flatMap((tool) => [tool.function?.name, tool.function?.arguments])
  return [text, ...pieces, ...called].reduce((sum, piece) => sum + (piece?.length ?? 0), 0)
}

function addDelta(choice: Choice, delta: z.output<typeof Delta>): void {
  choice.role = delta.role ?? choice.role
  for (const name of PIECES) {
    const piece = delta[name]
    if (piece != null) choice.texts[name] = (choice.texts[name] ?? '') + piece
  }
  for (const [position, { index, id, type, function: called }] of (delta.tool_calls ?? []).entries()) {
    const key = index ?? position
    const tool = choice.tools.get(key)
    choice.tools.set(key, {
      id: tool?.id ?? id ?? undefined,
      type: tool?.type ?? type ?? 'function',
      name: (tool?.name ?? '') + (called?.name ?? ''),
      arguments: (tool?.arguments ?? '') + (called?.arguments ?? ''),
    })
  }
}

function messageOf({ role, texts, tools }: Choice): object {
  const called = [...tools.values()].map((tool) => ({
    id: tool.id,
    type: tool.type,
    function: { name: tool.name, arguments: tool.arguments },
  }))
  return { role, content: null, ...texts, ...(called.length > 0 && { tool_calls: called }) }
}
