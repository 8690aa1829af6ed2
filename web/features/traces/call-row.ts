import { type CallFacts, factsOf } from '../../api/call-facts.ts'
import type { Call } from '../../api/calls.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'

/** What a cell shows at most of a value. */
const CELL_CHARS = 256

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

/** Shrinks a call to its row as soon as it comes. */
export function rowOf(call: Call, paths: readonly string[]): CallRow {
  const { startedMs, endedMs, models, ...facts } = factsOf(call)
  return {
    ...facts,
    id: call.id,
    startedAt: call.started_at,
    latencyMs: endedMs === null ? null : endedMs - startedMs,
    inputs: inputsText(call.inputs),
    output: call.exception
      ? exceptionText(call.exception).line.slice(0, CELL_CHARS)
      : outputText(call.output),
    exception: call.exception,
    models: models.join(', '),
    user: call.wb_user_id,
    thread: call.thread_id,
    feedback: feedbackOf(objectOf(objectOf(call.summary)['weave'])['feedback']),
    tags: preview(objectOf(call.attributes)['tags'] ?? '', CELL_CHARS),
    cells: Object.fromEntries(paths.map((path) => [path, cellText(valueAt(call, path))])),
  }
}

function cellText(value: Json | undefined): string {
  return value === undefined ? '' : preview(value, CELL_CHARS)
}

/** One input is shown without its name; of a conversation, what was said last. */
function inputsText(inputs: Json): string {
  const entries = Object.entries(objectOf(inputs)).filter(([name]) => name !== 'self')
  const messages = objectOf(inputs)['messages']
  if (Array.isArray(messages)) return lastMessage(messages)
  const [only] = entries
  return entries.length === 1 && only !== undefined
    ? cellText(only[1])
    : cellText(Object.fromEntries(entries))
}

/** Of a completion, what was answered. */
function outputText(output: Json): string {
  const choices = objectOf(output)['choices']
  if (!Array.isArray(choices)) return cellText(output ?? undefined)
  const message = objectOf(objectOf(choices[0])['message'])
  return cellText(message['content'] ?? message['tool_calls'] ?? output)
}

function lastMessage(messages: readonly Json[]): string {
  const content = objectOf(messages.at(-1))['content']
  return cellText(content ?? messages.at(-1))
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
