import type { Call } from '../../api/calls.ts'
import { exceptionText } from '../../api/exception-text.ts'
import { objectOf, valueAt } from '../../api/json.ts'
import type { Json } from '../../api/wire.ts'
import { preview } from '../../components/json-view/json-lines.ts'
import type { StatusKind } from '../../components/status.tsx'

/** What a cell shows at most of a value. */
const CELL_CHARS = 256

/** A call as the table keeps it: short texts and numbers, however large its payloads are. */
export interface CallRow {
  id: string
  name: string
  startedAt: string
  status: StatusKind
  statusWord: string
  latencyMs: number | null
  inputs: string
  output: string
  exception: string | null
  tokens: number | null
  cost: number | null
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
  const summary = objectOf(call.summary)
  const derived = objectOf(summary['weave'])
  const usage = objectOf(summary['usage'])
  const word = String(derived['status'] ?? 'success')
  return {
    id: call.id,
    name: call.display_name ?? String(derived['trace_name'] ?? call.op_name),
    startedAt: call.started_at,
    status: STATUSES[word] ?? 'ok',
    statusWord: word === 'descendant_error' ? 'error below' : word,
    latencyMs: call.ended_at === null ? null : instantMs(call.ended_at) - instantMs(call.started_at),
    inputs: inputsText(call.inputs),
    output: call.exception
      ? exceptionText(call.exception).line.slice(0, CELL_CHARS)
      : outputText(call.output),
    exception: call.exception,
    tokens: tokensOf(usage),
    cost: costOf(objectOf(derived['costs'])),
    models: Object.keys(usage).join(', '),
    user: call.wb_user_id,
    thread: call.thread_id,
    feedback: feedbackOf(derived['feedback']),
    tags: preview(objectOf(call.attributes)['tags'] ?? '', CELL_CHARS),
    cells: Object.fromEntries(paths.map((path) => [path, cellText(valueAt(call, path))])),
  }
}

const STATUSES: Record<string, StatusKind> = {
  success: 'ok',
  error: 'error',
  running: 'running',
  descendant_error: 'abandoned',
}

/** Milliseconds of a time with microseconds, which a `Date` would cut off. */
function instantMs(iso: string): number {
  const micros = /\.\d{3}(\d{1,3})/.exec(iso)?.[1] ?? ''
  return Date.parse(iso) + Number(micros.padEnd(3, '0')) / 1000
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

function numberOf(value: Json | undefined): number | null {
  return typeof value === 'number' ? value : null
}

/** Clients name tokens in two ways, and some only tell the sum. */
function tokensOf(usage: { [model: string]: Json | undefined }): number | null {
  const sums = Object.values(usage).map((each) => {
    const of = objectOf(each)
    const input = numberOf(of['prompt_tokens']) ?? numberOf(of['input_tokens'])
    const output = numberOf(of['completion_tokens']) ?? numberOf(of['output_tokens'])
    return (
      numberOf(of['total_tokens']) ??
      (input === null && output === null ? null : (input ?? 0) + (output ?? 0))
    )
  })
  const known = sums.filter((sum) => sum !== null)
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0)
}

const COSTS = ['prompt_tokens_total_cost', 'completion_tokens_total_cost']

function costOf(costs: { [model: string]: Json | undefined }): number | null {
  const known = Object.values(costs).flatMap((each) => COSTS.map((name) => numberOf(objectOf(each)[name])))
  const sums = known.filter((cost) => cost !== null)
  return sums.length === 0 ? null : sums.reduce((sum, one) => sum + one, 0)
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
