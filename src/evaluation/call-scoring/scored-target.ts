import { createCharsBudget } from '../../chars-budget.ts'
import type { CallContext } from '../../http/caller.ts'
import type { JsonText } from '../../json/lossless-json.ts'
import type { Call } from '../../trace/calls/messages/call-wire.ts'
import type { Calls } from '../../trace/calls/service.ts'
import { refsAmong, withValues } from '../../trace/refs/input-refs.ts'
import type { Refs } from '../../trace/refs/service.ts'
import { type AgentTurn, answerOf, turnOf, withMessagesOf } from '../scorers/agent-turn.ts'
import type { Scored } from '../scorers/scorer.ts'
import type { ScoringTask } from './scoring-task.ts'

export interface TargetDeps {
  calls: Pick<Calls, 'list'>
  refs: Pick<Refs, 'resolve'>
}

/** Calls of a turn that are searched for messages. */
const TURN_CALLS_MAX = 500

/**
 * Characters of calls that are scored together, as they are stored and with the values of their refs: 16 tasks are done
 * at once.
 */
const WINDOW_CHARS_MAX = 32 * 1024 * 1024

/**
 * What a task is to score; undefined for a call that has been deleted, which is not scored.
 * @throws 413 for calls that are too large to be scored together.
 */
export async function targetOf(
  deps: TargetDeps,
  task: ScoringTask,
  context: CallContext,
): Promise<{ call: Call; scored: Scored } | undefined> {
  const ids = [...new Set([...(task.window_calls ?? []), task.call_id])]
  const byId = await callsOf(deps, { project_id: task.project_id, call_ids: ids }, context)
  const call = byId.get(task.call_id)
  if (call === undefined) return undefined
  const turn = task.target === 'agent_turn' ? turnOf(call) : undefined
  if (turn !== undefined) return { call, scored: await scoredTurn(deps, { call, turn }, context) }
  if (task.window_calls === null) return { call, scored: { ...(await scoredOf(deps, call)), call } }
  const window = task.window_calls.flatMap((id) => byId.get(id) ?? []).sort(byEnd)
  return { call, scored: { ...(await scoredWindow(deps, window)), call } }
}

/** Calls of a window may have been written in another order than they ended. */
function byEnd(a: Call, b: Call): number {
  return (a.ended_at ?? '').localeCompare(b.ended_at ?? '')
}

/** Input and output of a call; inputs that are refs, such as columns of a dataset, are resolved. */
async function scoredOf(deps: TargetDeps, call: Call): Promise<Scored> {
  const { inputs, output } = await textsOf(deps, call)
  return { output: JSON.parse(output), inputs: JSON.parse(inputs) }
}

async function textsOf({ refs }: TargetDeps, call: Call) {
  const { project_id, inputs, output } = call
  const named = refsAmong(inputs.text)
  const values = named.length === 0 ? new Map<string, JsonText>() : await refs.resolve(project_id, named)
  return { output: output?.text ?? 'null', inputs: withValues(call, values) }
}

/**
 * Calls that are scored together: the outputs of all of them, and the inputs of the last with `messages`, all of both.
 */
async function scoredWindow(deps: TargetDeps, calls: readonly Call[]): Promise<Scored> {
  const addChars = windowBudget()
  const messages: Scored[] = []
  for (const call of calls) {
    const { inputs, output } = await textsOf(deps, call)
    addChars(inputs.length + output.length)
    messages.push({ output: JSON.parse(output), inputs: JSON.parse(inputs) })
  }
  return {
    output: messages.map(({ output }) => output),
    inputs: { ...messages.at(-1)?.inputs, messages },
  }
}

/** A turn: the agent's last message as output, its other messages by name, and the inputs of its span. */
async function scoredTurn(
  deps: TargetDeps,
  { call, turn: own }: { call: Call; turn: AgentTurn },
  context: CallContext,
): Promise<Scored> {
  const { project_id, trace_id } = call
  const sort_by = [{ field: 'started_at', direction: 'asc' as const }]
  const columns = ['attributes', 'started_at']
  const query = { project_id, filter: { trace_ids: [trace_id] }, sort_by, columns, limit: TURN_CALLS_MAX }
  const turn = await withMessagesOf(own, await deps.calls.list(query, context))
  const { inputs, output } = await scoredOf(deps, call)
  const { system_instructions, input: input_messages, output: output_messages } = turn.messages
  return {
    output: answerOf(turn) ?? output,
    inputs: { ...inputs, system_instructions, input_messages, output_messages },
    call,
    turn,
  }
}

/** Calls by their ids. */
async function callsOf(
  { calls }: TargetDeps,
  { project_id, call_ids }: { project_id: string; call_ids: string[] },
  context: CallContext,
): Promise<Map<string, Call>> {
  const addChars = windowBudget()
  const found = new Map<string, Call>()
  for await (const call of await calls.list({ project_id, filter: { call_ids } }, context)) {
    const payloads = [call.inputs, call.output, call.attributes, call.summary]
    addChars(payloads.reduce((sum, payload) => sum + (payload?.text.length ?? 0), 0))
    found.set(call.id, call)
  }
  return found
}

/** Adds up the characters of calls; what it returns throws 413 once they no longer fit, unless there is one alone. */
function windowBudget(): (chars: number) => void {
  const message = `The calls that are scored together have more than ${WINDOW_CHARS_MAX} characters`
  return createCharsBudget(WINDOW_CHARS_MAX, message, { isOneAllowed: true })
}
