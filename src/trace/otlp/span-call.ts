import { createHash } from 'node:crypto'
import { invalidRequest } from '../../errors.ts'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { isoMicros } from '../../time.ts'
import { DISPLAY_NAME_CHARS_MAX, OP_NAME_CHARS_MAX } from '../calls/write/parts.ts'
import {
  anyAt,
  firstAt,
  isTree,
  type Plain,
  type Tree,
  textOf,
  treeOf,
  valueAt,
  withLists,
} from './attributes.ts'
import {
  AI_SDK_OPERATION,
  ATTRIBUTES,
  INPUTS,
  IS_TURN,
  IS_TURN_AS_ROOT,
  OUTPUTS,
  THREAD,
  USAGE,
} from './conventions.ts'
import { messagesIn } from './messages.ts'
import { otelSpan, type ShownEvent, shownEvent, timeOf } from './otel-span.ts'
import type { Span } from './wire.ts'

/** The origin of a span. */
export interface SpanSource {
  project_id: string
  resource: ShownResource
}

/** The software that produced spans, as their resource names it. */
export interface ShownResource {
  attributes: Tree
  dropped_attributes_count: number
}

/**
 * Converts a span to a call.
 * @throws 400 for invalid ids or times, and names of attributes with too many dots or levels.
 */
export function callOfSpan(span: Span, { project_id, resource }: SpanSource) {
  const tree = treeOf(span.attributes)
  const events = span.events.map(shownEvent)
  const found = {
    inputs: foundAt(tree, INPUTS) ?? messagesIn(events, 'inputs'),
    output: foundAt(tree, OUTPUTS) ?? messagesIn(events, 'output'),
    usage: usageOf(tree),
    attributes: foundAtEach(tree, ATTRIBUTES),
  }
  const id = idOf('span', span.spanId, SPAN_ID)
  const trace_id = idOf('trace', span.traceId, TRACE_ID)
  const thread = textAt(tree, THREAD)
  const parent_id = parentOf(span)
  const started_at = timeAt(tree, 'langfuse.startTime') ?? timeOf(span.startTimeUnixNano)
  const ended_at = timeAt(tree, 'langfuse.endTime') ?? timeOf(span.endTimeUnixNano)
  return {
    project_id,
    id,
    trace_id,
    parent_id,
    op_name: shortened(span.name, OP_NAME_CHARS_MAX),
    display_name: displayNameOf(tree),
    thread_id: thread,
    // Wire: a turn of a thread is the call whose id it has.
    turn_id: thread !== undefined && isTurn(tree, parent_id) ? id : undefined,
    started_at,
    ended_at: notBefore(started_at, ended_at),
    exception: exceptionOf(span, events),
    attributes: jsonOf({
      ...shownAttributes(tree, found),
      otel_span: otelSpan(span, { attributes: tree, events, resource }),
    }),
    inputs: jsonOf(unnested(found.inputs, ['inputs', 'input'], isTree)),
    output: jsonOf(unnested(found.output, ['outputs', 'output'], () => true)),
    summary: jsonOf(summaryOf(found)),
    wb_run_id: runIdOf(project_id, tree, resource),
    wb_run_step: stepAt(tree, 'wandb.wb_run_step'),
    wb_run_step_end: stepAt(tree, 'wandb.wb_run_step_end'),
  }
}

const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/
const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/

/** Wire: ids of JSON are hex in either case. */
function idOf(what: string, id: string, pattern: RegExp): string {
  const lower = id.toLowerCase()
  if (!pattern.test(lower)) throw invalidRequest(`Invalid ${what} id: ${id.slice(0, 64)}`)
  return lower
}

function parentOf({ parentSpanId }: Span): string | null {
  return /^0*$/.test(parentSpanId) ? null : idOf('parent span', parentSpanId, SPAN_ID)
}

function isTurn(tree: Tree, parentId: string | null): boolean {
  if (firstAt(tree, IS_TURN) !== undefined) return true
  return parentId === null && IS_TURN_AS_ROOT.every((key) => valueAt(tree, key) !== undefined)
}

/** A span sent before it has ended has no end yet, and clocks that are set back end spans before they start. */
function notBefore(start: string, end: string): string {
  return end < start ? start : end
}

/** Wire: Langfuse puts the real times into attributes, as ISO 8601 or as nanoseconds since 1970. */
function timeAt(tree: Tree, key: string): string | undefined {
  const value = valueAt(tree, key)
  if (typeof value === 'string') return isoMicros(value)
  const source = textOf(value)
  return source !== undefined && /^\d{1,19}$/.test(source) ? timeOf(BigInt(source)) : undefined
}

/** Wire: what a convention calls `input` or `output` and nothing else is the payload itself. */
function unnested(found: Tree, names: readonly string[], isPayload: (value: Plain) => boolean): Plain {
  for (const name of names) {
    const value = found[name]
    if (value !== undefined && isPayload(value)) return value
  }
  return found
}

function foundAt(tree: Tree, keys: readonly string[]): Tree | undefined {
  const first = firstAt(tree, keys)
  return first && { [first.key]: withLists(first.value) }
}

function foundAtEach(tree: Tree, names: Record<string, readonly string[]>): Tree {
  const found: Tree = {}
  for (const [name, keys] of Object.entries(names)) {
    const first = firstAt(tree, keys)
    if (first !== undefined) found[name] = withLists(first.value)
  }
  return found
}

/** Wire: without any known attribute, all attributes are shown unchanged. */
function shownAttributes(
  tree: Tree,
  found: { inputs: Tree; output: Tree; usage: Record<string, number>; attributes: Tree },
): Tree {
  const isKnown = Object.values(found).some((part) => Object.keys(part).length > 0)
  if (!isKnown) return tree
  const own = withLists(valueAt(tree, 'wandb.attributes') ?? null)
  return isTree(own) ? { ...found.attributes, ...own } : found.attributes
}

/** Wire: the span of a whole operation of the AI SDK repeats the tokens of the requests below it. */
function repeatsUsage(tree: Tree): boolean {
  return /^ai\.\w+$/.test(textAt(tree, AI_SDK_OPERATION) ?? '')
}

/** Wire: a missing total is the sum; a span that counts nothing has no usage. */
function usageOf(tree: Tree): Record<string, number> {
  if (repeatsUsage(tree)) return {}
  const usage: Record<string, number> = {}
  for (const [name, keys] of Object.entries(USAGE)) {
    const count = countAt(tree, keys)
    if (count !== undefined) usage[name] = count
  }
  if (!Object.values(usage).some(Boolean)) return {}
  const input = oneOf(usage, 'input_tokens', 'prompt_tokens')
  const output = oneOf(usage, 'output_tokens', 'completion_tokens')
  if (!usage['total_tokens'] && input !== undefined && output !== undefined)
    usage['total_tokens'] = input + output
  return usage
}

/** Wire: counts sent as text are numbers. A name with zero may be one that a library never fills. */
function countAt(tree: Tree, keys: readonly string[]): number | undefined {
  const counts = keys.flatMap((key) => {
    const source = textOf(anyAt(tree, key)) || undefined
    const count = Math.trunc(Number(source))
    return Number.isFinite(count) ? [count] : []
  })
  return counts.find((count) => count !== 0) ?? counts[0]
}

/** Wire: some libraries send a count under both names. Readers of usage add the two, so only one is kept. */
function oneOf(usage: Record<string, number>, name: string, synonym: string): number | undefined {
  const [count, other] = [usage[name], usage[synonym]]
  if (count === undefined || other === undefined) return count ?? other
  delete usage[count === 0 ? name : synonym]
  return count === 0 ? other : count
}

/** Wire: usage is counted by model; without a model's name, under `usage`. */
function summaryOf({ usage, attributes }: { usage: Record<string, number>; attributes: Tree }): object {
  return Object.keys(usage).length === 0 ? {} : { usage: { [modelOf(attributes) ?? 'usage']: usage } }
}

function modelOf({ model, model_parameters }: Tree): string | undefined {
  const named = model ?? (isTree(model_parameters) ? model_parameters['model'] : undefined)
  return typeof named === 'string' ? named : undefined
}

/** A failed span always has a message: a call without an exception would count as a success. */
function exceptionOf({ status }: Span, events: readonly ShownEvent[]): string | undefined {
  if (status.code !== STATUS_ERROR && status.code !== 'STATUS_CODE_ERROR') return undefined
  if (status.message !== '') return status.message
  const raised = events.findLast((event) => event.name === 'exception')
  const message = raised && textAt(raised.attributes, ['exception.message', 'exception.type'])
  return message ?? 'The span failed'
}

const STATUS_ERROR = 2

function displayNameOf(tree: Tree): string | undefined {
  const name = textAt(tree, ['wandb.display_name'])
  return name === undefined ? undefined : shortened(name, DISPLAY_NAME_CHARS_MAX)
}

/** Names that are too long end with the beginning of their hash, so that similar ones stay distinct. */
function shortened(name: string, charsMax: number): string {
  if (name.length <= charsMax) return name
  const mark = `:${createHash('sha256').update(name).digest('hex').slice(0, 4)}`
  return name.slice(0, charsMax - mark.length) + mark
}

/** Wire: a run is named without its project, in the span or in its resource. */
function runIdOf(projectId: string, tree: Tree, resource: ShownResource): string | undefined {
  const name = textAt(tree, ['wandb.wb_run_id']) ?? textAt(resource.attributes, ['wandb.wb_run_id'])
  return name === undefined || /[/:]/.test(name) ? undefined : `${projectId}/${name}`
}

function stepAt(tree: Tree, key: string): number | undefined {
  const step = Number(textOf(valueAt(tree, key)))
  return Number.isSafeInteger(step) && step >= 0 ? step : undefined
}

function textAt(tree: Tree, keys: readonly string[]): string | undefined {
  return textOf(firstAt(tree, keys)?.value)
}

function jsonOf(value: unknown): JsonText {
  return new JsonText(stringify(value))
}
