import { type CallFacts, factsOf } from '../../api/call-facts.ts'
import type { Call } from '../../api/calls.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'

/** What a cell of one line shows at most of a value. */
const CELL_CHARS = 256
/** A line of a wide column has about so many; taller rows keep as many lines of them. */
const LINE_CHARS = 200

/** How much of a value is kept for a row of so many lines. */
export function cellChars(lines: number): number {
  return Math.max(CELL_CHARS, lines * LINE_CHARS)
}

/** A call as the table keeps it: short texts and numbers, however large its payloads are. */
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
}

export interface FeedbackSigns {
  emoji: string[]
  notes: number
  scores: number
}

/** Shrinks a call to its row as soon as it comes. @param chars that are kept of each value */
export function rowOf(call: Call, paths: readonly string[], chars = CELL_CHARS): CallRow {
  const { startedMs, endedMs, models, ...facts } = factsOf(call)
  return {
    ...facts,
    id: call.id,
    startedAt: call.started_at,
    latencyMs: endedMs === null ? null : endedMs - startedMs,
    inputs: inputsText(call.inputs, chars),
    output: call.exception
      ? exceptionText(call.exception).line.slice(0, chars)
      : outputText(call.output, chars),
    exception: call.exception,
    models: models.join(', '),
    user: call.wb_user_id,
    thread: call.thread_id,
    feedback: feedbackOf(objectOf(objectOf(call.summary)['weave'])['feedback']),
    tags: preview(objectOf(call.attributes)['tags'] ?? '', CELL_CHARS),
    cells: Object.fromEntries(paths.map((path) => [path, cellText(valueAt(call, path), chars)])),
  }
}

function cellText(value: Json | undefined, chars: number): string {
  return value === undefined ? '' : preview(value, chars)
}

/** One input is shown without its name; of a conversation, the last message. */
function inputsText(inputs: Json, chars: number): string {
  const entries = Object.entries(objectOf(inputs)).filter(([name]) => name !== 'self')
  const messages = objectOf(inputs)['messages']
  if (Array.isArray(messages)) return lastMessage(messages, chars)
  const [only] = entries
  return entries.length === 1 && only !== undefined
    ? cellText(only[1], chars)
    : cellText(Object.fromEntries(entries), chars)
}

/** Of a completion, the answer. */
function outputText(output: Json, chars: number): string {
  const choices = objectOf(output)['choices']
  if (!Array.isArray(choices)) return cellText(output ?? undefined, chars)
  const message = objectOf(objectOf(choices[0])['message'])
  return cellText(message['content'] ?? message['tool_calls'] ?? output, chars)
}

function lastMessage(messages: readonly Json[], chars: number): string {
  const content = objectOf(messages.at(-1))['content']
  return cellText(content ?? messages.at(-1), chars)
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
