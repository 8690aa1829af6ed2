import { type CallPart, endPart, startPart } from '../../trace/calls/write/parts.ts'
import { utf8Text } from '../../utf8-text.ts'
import { callsOfGroup, type GroupCall, type TrajectorySource } from './group-calls.ts'

/**
 * Calls whose rows come from a thread at once, and are written together: enough to amortise a commit, few enough for
 * memory.
 */
const CALLS_AT_ONCE = 500

/** Characters of their payloads: each turn repeats the messages before it. */
const CHARS_AT_ONCE = 4 * 1024 * 1024

/** A group as it is stored, and what else its calls depend on. */
export interface StoredGroup {
  bytes: Uint8Array
  /** Its place in its source. */
  index: number
  source: TrajectorySource
  user: string
}

/** A reward, which is feedback on a call. */
export interface Reward extends Omit<NonNullable<GroupCall['reward']>, 'payload'> {
  payload: string
}

/** Some calls of a group as rows. */
export interface GroupRows {
  parts: CallPart[]
  rewards: Reward[]
  calls: number
  /** Characters of payloads. */
  chars: number
}

export function noRows(): GroupRows {
  return { parts: [], rewards: [], calls: 0, chars: 0 }
}

/** Whether there are as many as are written at once. */
export function areEnough({ calls, chars }: GroupRows): boolean {
  return calls >= CALLS_AT_ONCE || chars >= CHARS_AT_ONCE
}

/** The rows of a group that was checked, in lists to be written together. */
export function* rowsOfGroup({ bytes, index, source, user }: StoredGroup): Generator<GroupRows> {
  let rows = noRows()
  for (const { call, reward } of callsOfGroup(utf8Text(bytes), index, source)) {
    const placed = { ...call, project_id: source.project_id }
    rows.parts.push(startPart(placed, user, []), endPart(placed, []))
    if (reward !== undefined) rows.rewards.push({ ...reward, payload: reward.payload.text })
    rows.calls++
    rows.chars += call.inputs.text.length + (call.output?.text.length ?? 0)
    if (!areEnough(rows)) continue
    yield rows
    rows = noRows()
  }
  yield rows
}
