import { queryOptions } from '@tanstack/react-query'
import { type Call, type Operation, streamCalls } from './calls.ts'
import type { Json } from './wire.ts'

/** The place of a call in a trajectory, under `attributes.trajectory`. */
export interface TurnPlace {
  job_id?: string
  split: string
  group: number
  /** Undefined for an exception, and for a group without attempts. */
  trajectory?: number
  history: number
  turn: number
  reward: number
  metrics?: Record<string, number | boolean> | null
  metadata?: Record<string, Json> | null
  initial_policy_version?: number | null
  final_policy_version?: number | null
}

/** One answer of a model within a trajectory. */
export interface Turn {
  id: string
  place: TurnPlace
  /** Undefined where only the place was requested. */
  inputs?: Json
  output?: Json
  exception: string | null
}

/** Turns that are read of one step, for its overview. */
export const TURNS_MAX = 20_000

const field = (path: string) => ({ $getField: path })
const equal = (path: string, value: string | number): Operation => ({
  $eq: [field(path), { $literal: value }],
})
const place = (name: string) => `attributes.trajectory.${name}`

/** The turns a step was trained on, without payloads, in the order of the list. */
export function stepTurnsQuery(project: string, jobId: string, { isLive }: { isLive: boolean }) {
  return queryOptions({
    queryKey: ['calls', project, 'turns', jobId],
    queryFn: ({ signal }) => readTurns(project, [equal(place('job_id'), jobId)], { signal, with: [] }),
    staleTime: isLive ? 2_000 : Number.POSITIVE_INFINITY,
    // The turns of a job become calls beside the training itself, so the list may still grow.
    refetchInterval: ({ state }) => (isLive || state.data?.length === 0 ? 3_000 : false),
  })
}

/** The first turn of each group: what was asked. */
export function promptsQuery(project: string, jobId: string) {
  const first = ['trajectory', 'history', 'turn'].map((name) => equal(place(name), 0))
  return queryOptions({
    queryKey: ['calls', project, 'turns', jobId, 'prompts'],
    queryFn: ({ signal }) =>
      readTurns(project, [equal(place('job_id'), jobId), ...first], { signal, with: ['inputs'] }),
    refetchInterval: ({ state }) => (state.data?.length === 0 ? 3_000 : false),
  })
}

/** Everything of one group. */
export function groupTurnsQuery(project: string, jobId: string, group: number) {
  const which = [equal(place('job_id'), jobId), equal(place('group'), group)]
  return queryOptions({
    queryKey: ['calls', project, 'turns', jobId, 'group', group],
    queryFn: ({ signal }) => readTurns(project, which, { signal, with: ['inputs', 'output'] }),
    staleTime: 60_000,
  })
}

async function readTurns(
  project: string,
  operations: readonly Operation[],
  options: { signal: AbortSignal; with: readonly ('inputs' | 'output')[] },
): Promise<Turn[]> {
  const request = {
    query: { $expr: { $and: [...operations] } },
    columns: ['id', 'attributes', 'exception', ...options.with],
    sort_by: [{ field: 'started_at', direction: 'asc' as const }],
    limit: TURNS_MAX,
  }
  const turns: Turn[] = []
  for await (const call of streamCalls(project, request, { signal: options.signal })) {
    const found = placeOf(call)
    if (found === undefined) continue
    const { id, inputs, output, exception } = call
    turns.push({
      id,
      place: found,
      inputs: inputs ?? null,
      output: output ?? null,
      exception: exception ?? null,
    })
  }
  return turns
}

function placeOf({ attributes }: Call): TurnPlace | undefined {
  const isObject = typeof attributes === 'object' && attributes !== null && !Array.isArray(attributes)
  const found = isObject ? attributes['trajectory'] : undefined
  // Written by the server itself, with exactly these members.
  return typeof found === 'object' && found !== null && 'group' in found
    ? (found as unknown as TurnPlace)
    : undefined
}
