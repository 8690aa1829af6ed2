import type { CallContext } from '../../http/caller.ts'
import type { JsonText } from '../../lossless-json.ts'
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

/** What a task is to score; undefined for a call that has been deleted, which is not scored. */
export async function targetOf(
  deps: TargetDeps,
  task: ScoringTask,
  context: CallContext,
): Promise<{ call: Call; scored: Scored } | undefined> {
  const ids = [...new Set([...(task.window_calls ?? []), task.call_id])]
  const found = await callsOf(deps, { project_id: task.project_id, filter: { call_ids: ids } }, context)
  const byId = new Map(found.map((call) => [call.id, call]))
  const call = byId.get(task.call_id)
  if (call === undefined) return undefined
  const turn = task.target === 'agent_turn' ? turnOf(call) : undefined
  if (turn !== undefined) return { call, scored: await scoredTurn(deps, { call, turn }, context) }
  if (task.window_calls === null) return { call, scored: { ...(await scoredOf(deps, call)), call } }
  const window = task.window_calls.flatMap((id) => byId.get(id) ?? [])
  return { call, scored: { ...(await scoredWindow(deps, window)), call } }
}

/** Input and output of a call; inputs that are refs, such as columns of a dataset, are resolved. */
async function scoredOf({ refs }: TargetDeps, { project_id, inputs, output }: Call): Promise<Scored> {
  const named = refsAmong(inputs.text)
  const values = named.length === 0 ? new Map<string, JsonText>() : await refs.resolve(project_id, named)
  return { output: output?.value() ?? null, inputs: JSON.parse(withValues(inputs.text, values)) }
}

/** Calls that are scored together: the outputs of all of them, and the inputs of the last with `messages`, all of both. */
async function scoredWindow(deps: TargetDeps, calls: readonly Call[]): Promise<Scored> {
  const messages: Scored[] = []
  for (const call of calls) messages.push(await scoredOf(deps, call))
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
  const turn = withMessagesOf(own, await callsOf(deps, query, context))
  const { inputs, output } = await scoredOf(deps, call)
  const { system_instructions, input: input_messages, output: output_messages } = turn.messages
  return {
    output: answerOf(turn) ?? output,
    inputs: { ...inputs, system_instructions, input_messages, output_messages },
    call,
    turn,
  }
}

async function callsOf(
  { calls }: TargetDeps,
  query: Parameters<Calls['list']>[0],
  context: CallContext,
): Promise<Call[]> {
  const found: Call[] = []
  for await (const call of await calls.list(query, context)) found.push(call)
  return found
}
