import { v5 as uuidv5 } from 'uuid'
import { JsonText, stringify } from '../../json/lossless-json.ts'
import { isoMicros, isoOfMicros, microsOf } from '../../time.ts'
import type { CallComplete } from '../../trace/calls/messages/call-wire.ts'
import type { FeedbackCreateReq } from '../../trace/feedback/wire.ts'
import { callRef } from '../../trace/ref-uri.ts'
import {
  type Members,
  nonEmpty,
  parseShownGroup,
  type ShownGroup,
  type ShownTrajectory,
} from './shown-group.ts'
import { type Turn, turnsOf } from './turns.ts'

/** The ops of calls for turns of a trajectory, by the source of the turn. */
const TURN_OP_NAMES = { choice: 'trajectory.turn', messages: 'trajectory.messages' } as const

/** The op of the call for an attempt that ended in an exception. */
const EXCEPTION_OP_NAME = 'trajectory.exception'

/** The op of the call for a group without attempts. */
const GROUP_OP_NAME = 'trajectory.group'

/** The source of trajectories. */
export interface TrajectorySource {
  /** A UUID; the ids of the calls are derived from it, so that writing them again changes nothing. */
  id: string
  project_id: string
  /** Attributes of all of them, such as model and job. */
  attributes: Record<string, string>
  split: string
  /** When they arrived, ISO 8601. */
  at: string
}

/** A call for a part of a group, with the reward that is feedback on it. */
export interface GroupCall {
  call: Omit<CallComplete, 'project_id'>
  reward?: FeedbackCreateReq
}

/** The content of a call before its group and source are known. */
interface Part extends Pick<GroupCall['call'], 'op_name' | 'thread_id' | 'turn_id' | 'exception'> {
  id: string
  /** Microseconds since 1970 where the client gives a time. */
  startMicros?: number | undefined
  /** Without those of its group and source. */
  trajectory?: object
  inputs?: object
  output?: object | undefined
  reward?: JsonText
}

/**
 * The calls of one group, which together contain all of it. A turn's inputs are the messages before it, its output is
 * the model's answer; the turns of a trajectory are a thread, and its reward is feedback on the last of them. What
 * identifies a trajectory or a group is among the attributes of each of its calls, all else, such as logs, of the last
 * one only.
 * @param text one group as JSON, checked before
 * @param index the group's place in its source
 */
export function* callsOfGroup(text: string, index: number, source: TrajectorySource): Generator<GroupCall> {
  const group = parseShownGroup(text)
  const { trajectories, exceptions, metadata, metrics, ...rest } = group
  const about = nonEmpty({ metadata, metrics })
  const aboutOnce = { ...nonEmpty(rest), ...about }
  let micros = microsOf(source.at) + index * GROUP_MICROS
  for (const [part, isLast] of withLast(partsOf(group, `${index}`, source.id, aboutOnce))) {
    const { id, startMicros, inputs = {}, output, reward, trajectory: own, ...shown } = part
    const time = isoOfMicros(startMicros ?? micros++)
    const trajectory = { ...source.attributes, split: source.split, group: index, ...own }
    const trajectory_group = isLast ? aboutOnce : about
    const attributes = hasMembers(trajectory_group) ? { trajectory, trajectory_group } : { trajectory }
    const call = {
      id,
      trace_id: id,
      started_at: time,
      ended_at: time,
      ...shown,
      attributes: new JsonText(stringify(attributes)),
      inputs: new JsonText(stringify(inputs)),
      ...(output && { output: new JsonText(stringify(output)) }),
      summary: new JsonText('{}'),
    }
    yield reward === undefined ? { call } : { call, reward: rewardOf(reward, id, source) }
  }
}

/** Time between groups, so that calls sort in the order of arrival; few groups have more turns. */
const GROUP_MICROS = 10_000

/** @param place the group's position, from which ids are derived within the namespace */
function* partsOf(group: ShownGroup, place: string, namespace: string, about: Members): Generator<Part> {
  const { trajectories, exceptions } = group
  for (const [number, trajectory] of trajectories.entries())
    yield* partsOfTrajectory(trajectory, number, (kind, path = '') =>
      uuidv5(`${kind}/${place}/${number}${path}`, namespace),
    )
  for (const [number, exception] of (exceptions ?? []).entries()) {
    yield {
      id: uuidv5(`exception/${place}/${number}`, namespace),
      op_name: EXCEPTION_OP_NAME,
      exception:
        textOf(exception['traceback']) ?? `${textOf(exception['type'])}: ${textOf(exception['message'])}`,
      trajectory: { exception: number },
      output: exception,
    }
  }
  const isShown = trajectories.length > 0 || (exceptions?.length ?? 0) > 0
  if (!isShown && hasMembers(about)) yield { id: uuidv5(`group/${place}`, namespace), op_name: GROUP_OP_NAME }
}

function* partsOfTrajectory(
  trajectory: ShownTrajectory,
  number: number,
  idOf: (kind: 'thread' | 'turn', path?: string) => string,
): Generator<Part> {
  const { messages_and_choices, tools, additional_histories, ...others } = trajectory
  const { reward, metrics, metadata, initial_policy_version, final_policy_version, start_time, ...rest } =
    others
  const about = { reward, metrics, metadata, initial_policy_version, final_policy_version }
  const aboutOnce = { ...nonEmpty(rest), ...nonEmpty({ start_time }), ...about }
  const startTime = isoMicros(textOf(start_time) ?? '')
  const startMicros = startTime === undefined ? undefined : microsOf(startTime)
  let sequence = 0
  for (const [turn, isLast] of withLast(turnsOfTrajectory(trajectory))) {
    const { history, index, inputs, output, kind } = turn
    const id = idOf('turn', `/${history}/${index}`)
    yield {
      id,
      op_name: TURN_OP_NAMES[kind],
      thread_id: idOf('thread'),
      turn_id: id,
      startMicros: startMicros === undefined ? undefined : startMicros + sequence++,
      trajectory: { ...(isLast ? aboutOnce : about), trajectory: number, history, turn: index },
      inputs,
      output,
      ...(isLast && { reward }),
    }
  }
}

function* turnsOfTrajectory({ messages_and_choices, tools, additional_histories }: ShownTrajectory) {
  const histories = [{ messages_and_choices, tools }, ...(additional_histories ?? [])]
  for (const [history, { messages_and_choices: elements, tools: offered, ...rest }] of histories.entries()) {
    let index = 0
    for (const [turn, isLast] of withLast(turnsOf(elements))) {
      const inputs = { ...(isLast && nonEmpty(rest)), messages: turn.messages, tools: offered }
      yield { kind: turn.kind, history, index: index++, inputs, output: outputOf(turn) }
    }
  }
}

function outputOf({ choice, messages_after }: Turn): object | undefined {
  return choice && { choices: [choice], messages_after }
}

/** A text that was checked to be valid JSON. */
function textOf(json: JsonText | null | undefined): string | undefined {
  return json == null ? undefined : String(json.value())
}

function hasMembers(value: object): boolean {
  return Object.keys(value).length > 0
}

function rewardOf(reward: JsonText, callId: string, source: TrajectorySource): FeedbackCreateReq {
  return {
    id: uuidv5(`reward/${callId}`, source.id),
    project_id: source.project_id,
    weave_ref: callRef(source.project_id, callId),
    feedback_type: 'reward',
    payload: new JsonText(stringify({ value: reward, split: source.split })),
  }
}

/** The items of a sequence, and whether each is the last. */
function* withLast<Item>(items: Iterable<Item>): Generator<[item: Item, isLast: boolean]> {
  let held: [Item] | undefined
  for (const item of items) {
    if (held !== undefined) yield [held[0], false]
    held = [item]
  }
  if (held !== undefined) yield [held[0], true]
}
