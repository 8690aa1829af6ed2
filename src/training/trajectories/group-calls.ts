import { v5 as uuidv5 } from 'uuid'
import { z } from 'zod'
import { AnyJson, keepShapeOf } from '../../json-text-wire.ts'
import { JsonText, memberText, parseKeeping, stringify, withMember } from '../../lossless-json.ts'
import { isoOfMicros, microsOf } from '../../time.ts'
import type { CallComplete } from '../../trace/calls/wire.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import { callRef } from '../../trace/refs/ref-uri.ts'

/** The op of a call that shows one turn of a trajectory. */
const OP_NAME = 'trajectory.turn'

/** The op of a call that shows an attempt which ended in an exception. */
const EXCEPTION_OP_NAME = 'trajectory.exception'

const History = z.object({ messages_and_choices: z.array(AnyJson), tools: AnyJson.nullish() })

/** A group whose parts that calls show stay the client's own text. */
const Group = z.object({
  trajectories: z.array(
    History.extend({
      additional_histories: z.array(History).nullish(),
      reward: AnyJson,
      metrics: AnyJson.nullish(),
      metadata: AnyJson.nullish(),
      initial_policy_version: AnyJson.nullish(),
      final_policy_version: AnyJson.nullish(),
    }),
  ),
  exceptions: z
    .array(z.object({ type: z.string(), message: z.string(), traceback: z.string().nullish() }))
    .nullish(),
})
type Trajectory = z.output<typeof Group>['trajectories'][number]

const GROUP_SHAPE = keepShapeOf(Group)

/** Where trajectories come from. */
export interface TrajectorySource {
  /** A UUID; the ids of the calls follow from it, so that writing them again changes nothing. */
  id: string
  project_id: string
  /** What is known of all of them, such as model and job. */
  attributes: Record<string, string>
  split: string
  /** When they came, ISO 8601. */
  at: string
}

export interface GroupCalls {
  calls: Omit<CallComplete, 'project_id'>[]
  rewards: FeedbackCreateReq[]
}

/**
 * The calls of one group: one a turn, of which inputs are the messages before it and output is what the model answered;
 * the turns of a trajectory are a thread, and its reward is feedback on the last of them.
 * @param text one group as JSON, checked before
 * @param index the group's place in its source
 */
export function callsOfGroup(text: string, index: number, source: TrajectorySource): GroupCalls {
  const found: GroupCalls = { calls: [], rewards: [] }
  const startMicros = microsOf(source.at) + index * GROUP_MICROS
  const group = Group.parse(parseKeeping(text, GROUP_SHAPE))
  for (const [number, trajectory] of group.trajectories.entries()) {
    const threadId = uuidv5(`thread/${index}/${number}`, source.id)
    const place = { group: index, trajectory: number }
    const histories = [trajectory, ...(trajectory.additional_histories ?? [])]
    const turns = histories.flatMap((history, h) =>
      turnsOf(history).map((turn) => ({ ...turn, place: { ...place, history: h, turn: turn.index } })),
    )
    for (const turn of turns) {
      const id = uuidv5(`turn/${index}/${number}/${turn.place.history}/${turn.index}`, source.id)
      const at = isoOfMicros(startMicros + found.calls.length)
      const about = { ...source.attributes, split: source.split, ...turn.place, ...aboutOf(trajectory) }
      found.calls.push({
        ...times(id, at),
        op_name: OP_NAME,
        thread_id: threadId,
        turn_id: id,
        attributes: new JsonText(stringify({ trajectory: about })),
        inputs: new JsonText(stringify({ messages: turn.messages, tools: turn.tools })),
        output: new JsonText(stringify({ choices: [turn.choice] })),
        summary: new JsonText('{}'),
      })
    }
    const last = found.calls.at(-1)
    if (turns.length > 0 && last?.id != null) found.rewards.push(rewardOf(trajectory, last.id, source))
  }
  for (const [number, exception] of (group.exceptions ?? []).entries()) {
    const id = uuidv5(`exception/${index}/${number}`, source.id)
    const place = { group: index, exception: number }
    found.calls.push({
      ...times(id, isoOfMicros(startMicros + found.calls.length)),
      op_name: EXCEPTION_OP_NAME,
      exception: exception.traceback ?? `${exception.type}: ${exception.message}`,
      attributes: new JsonText(
        stringify({ trajectory: { ...source.attributes, split: source.split, ...place } }),
      ),
      inputs: new JsonText('{}'),
      summary: new JsonText('{}'),
    })
  }
  return found
}

/** Groups follow each other at this distance, so that calls sort as they came; no group has more turns. */
const GROUP_MICROS = 10_000

function times(id: string, at: string) {
  return { id, trace_id: id, started_at: at, ended_at: at }
}

/** What is shown of a trajectory beside its turns. */
function aboutOf(trajectory: Trajectory): Record<string, JsonText | null | undefined> {
  const { reward, metrics, metadata, initial_policy_version, final_policy_version } = trajectory
  return { reward, metrics, metadata, initial_policy_version, final_policy_version }
}

interface Turn {
  /** Counts the turns of its history. */
  index: number
  messages: JsonText[]
  tools: JsonText | null | undefined
  choice: JsonText
}

/** One turn for everything the model answered. */
function turnsOf({ messages_and_choices, tools }: z.output<typeof History>): Turn[] {
  const messages: JsonText[] = []
  const turns: Turn[] = []
  for (const element of messages_and_choices) {
    const message = memberText(element.text, 'message')
    if (message === undefined || memberText(element.text, 'finish_reason') === undefined) {
      messages.push(element)
      continue
    }
    turns.push({
      index: turns.length,
      messages: [...messages],
      tools,
      // Token by token they are many times the rest, and the job's own data keeps them.
      choice: new JsonText(withMember(element.text, 'logprobs', undefined)),
    })
    messages.push(new JsonText(message))
  }
  return turns
}

function rewardOf({ reward }: Trajectory, callId: string, source: TrajectorySource): FeedbackCreateReq {
  return {
    id: uuidv5(`reward/${callId}`, source.id),
    project_id: source.project_id,
    weave_ref: callRef(source.project_id, callId),
    feedback_type: 'reward',
    payload: new JsonText(stringify({ value: reward, split: source.split })),
  }
}
