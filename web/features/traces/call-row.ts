import { type CallFacts, factsOf } from '../../api/call-facts.ts'
import type { Call } from '../../api/calls.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'

/** What a cell of one line shows at most of a value. */
export const CELL_CHARS = 256
/** A line of a wide column has about so many; taller rows keep as many lines of them. */
const LINE_CHARS = 200

/** Writes a value into a cell. */
type CellText = (value: Json) => string

/** How much of a value is kept for a row of so many lines. */
function cellChars(lines: number): number {
  return Math.max(CELL_CHARS, lines * LINE_CHARS)
}

/** As much of a value as a row of so many lines shows. */
export function shortText(lines: number): CellText {
  const chars = cellChars(lines)
  return (value) => preview(value, chars)
}

/** All of a value, for an export. */
export const wholeText: CellText = (value) => (typeof value === 'string' ? value : JSON.stringify(value))

/** A call as the table keeps it: short texts and numbers. */
export interface CallRow extends Pick<CallFacts, 'name' | 'status' | 'statusWord' | 'tokens' | 'cost'> {
  id: string
  startedAt: string
  latencyMs: number | null
  inputs: string
  output: string
  exception: string | null
  models: string
  user: string | null
  thread: string | null
  feedback: FeedbackSigns
  tags: string
  /** Texts at the JSON paths that have a column. */
  cells: Record<string, string>
  /** What stands there, of long texts the first {@link CELL_CHARS}; nothing of objects and lists. */
  scalars: Record<string, Scalar>
}

type Scalar = string | number | bigint | boolean | null

export interface FeedbackSigns {
  emoji: string[]
  notes: number
  scores: number
}

/** A call's row, made as soon as it comes, however large its payloads are. */
export function rowOf(call: Call, paths: readonly string[], textOf: CellText): CallRow {
  const { startedMs, endedMs, models, ...facts } = factsOf(call)
  return {
    ...facts,
    id: call.id,
    startedAt: call.started_at,
    latencyMs: endedMs === null ? null : endedMs - startedMs,
    inputs: inputsText(call.inputs, textOf),
    output: call.exception ? textOf(exceptionText(call.exception).line) : outputText(call.output, textOf),
    exception: call.exception,
    models: models.join(', '),
    user: call.wb_user_id,
    thread: call.thread_id,
    feedback: feedbackOf(objectOf(objectOf(call.summary)['weave'])['feedback']),
    tags: textOf(objectOf(call.attributes)['tags'] ?? ''),
    cells: Object.fromEntries(paths.map((path) => [path, cellText(valueAt(call, path), textOf)])),
    scalars: scalarsOf(call, paths),
  }
}

function scalarsOf(call: Call, paths: readonly string[]): Record<string, Scalar> {
  const found: Record<string, Scalar> = {}
  for (const path of paths) {
    const value = valueAt(call, path)
    if (typeof value === 'string') found[path] = value.slice(0, CELL_CHARS)
    else if (value !== undefined && (value === null || typeof value !== 'object')) found[path] = value
  }
  return found
}

function cellText(value: Json | undefined, textOf: CellText): string {
  return value === undefined ? '' : textOf(value)
}

/** One input is shown without its name; of a conversation, the last message. */
function inputsText(inputs: Json, textOf: CellText): string {
  const entries = Object.entries(objectOf(inputs)).filter(([name]) => name !== 'self')
  const messages = objectOf(inputs)['messages']
  if (Array.isArray(messages)) return lastMessage(messages, textOf)
  const [only] = entries
  return entries.length === 1 && only !== undefined
    ? cellText(only[1], textOf)
    : cellText(Object.fromEntries(entries), textOf)
}

/** Of a completion, the answer. */
function outputText(output: Json, textOf: CellText): string {
  const choices = objectOf(output)['choices']
  if (!Array.isArray(choices)) return cellText(output ?? undefined, textOf)
  const message = objectOf(objectOf(choices[0])['message'])
  return cellText(message['content'] ?? message['tool_calls'] ?? output, textOf)
}

function lastMessage(messages: readonly Json[], textOf: CellText): string {
  const content = objectOf(messages.at(-1))['content']
  return cellText(content ?? messages.at(-1), textOf)
}

function feedbackOf(value: Json | undefined): FeedbackSigns {
  const items = (Array.isArray(value) ? value : []).map(objectOf)
  const typed = (type: string) => items.filter((item) => String(item['feedback_type']).startsWith(type))
  return {
    emoji: typed('wandb.reaction').map((item) => String(objectOf(item['payload'])['emoji'] ?? '')),
    notes: typed('wandb.note').length,
    scores: items.length - typed('wandb.reaction').length - typed('wandb.note').length,
  }
}
