import { queryOptions } from '@tanstack/react-query'
import { type Call, type Operation, streamCalls } from './calls.ts'
import { isOpen, type Job } from './training.ts'
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

const from = (path: string, value: number): Operation => ({ $gte: [field(path), { $literal: value }] })

/** Polling interval of turns that are still becoming calls, in milliseconds. */
const TURNS_LIVE_MS = 3_000

/**
 * What has not become a call by now is waited for ever longer: some attempts have no turn, and calls may be deleted.
 */
const PARTS_OF_AGE = 20

/** Whether every attempt and every exception of a job is among its turns, or all that are shown at once. */
export function areComplete(turns: readonly Turn[], { counts }: Pick<Job, 'counts'>): boolean {
  const attempts = attemptsOf(turns)
  const exceptions = turns.filter(({ exception }) => exception !== null).length
  const isAll =
    attempts >= (counts['trajectories'] ?? 0) && exceptions >= (counts['exceptions'] ?? 0) && turns.length > 0
  return isAll || turns.length >= TURNS_MAX
}

/** How many attempts have turns here. */
export function attemptsOf(turns: readonly Turn[]): number {
  const attempts = turns.filter(({ place }) => place.trajectory !== undefined)
  return new Set(attempts.map(({ place }) => `${place.group}/${place.trajectory}`)).size
}

/** Milliseconds to the next poll of the turns of a job; false where nothing can come any more. */
export function turnsPollMs(turns: readonly Turn[], job: Job): number | false {
  if (isOpen(job)) return TURNS_LIVE_MS
  if (areComplete(turns, job)) return false
  return Math.max(TURNS_LIVE_MS, (Date.now() - Date.parse(job.created_at)) / PARTS_OF_AGE)
}

/** The turns a job was trained on, without payloads. Groups become calls in their order, beside the training itself. */
export function stepTurnsQuery(project: string, jobId: string, job: Job | undefined) {
  const queryKey = ['calls', project, 'turns', jobId]
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const known = client.getQueryData<Turn[]>(queryKey) ?? []
      if (known.length >= TURNS_MAX) return known
      // More turns of the last group may have come.
      const first = Math.max(0, lastGroupOf(known))
      const which = [equal(place('job_id'), jobId), from(place('group'), first)]
      const more = await readTurns(project, which, { signal, with: [] })
      return [...known.filter((turn) => turn.place.group < first), ...more].slice(0, TURNS_MAX)
    },
    staleTime: ({ state: { data = [] } }) =>
      job === undefined || turnsPollMs(data, job) === false ? Number.POSITIVE_INFINITY : TURNS_LIVE_MS,
    refetchInterval: ({ state: { data = [] } }) => (job === undefined ? false : turnsPollMs(data, job)),
  })
}

/** The highest number of a group; -1 without turns. */
export function lastGroupOf(turns: readonly Turn[]): number {
  return turns.reduce((last, { place }) => Math.max(last, place.group), -1)
}

/** The first turn of each group: what was asked. Each time, those of groups behind the known ones are read. */
export function promptsQuery(project: string, jobId: string) {
  const queryKey = ['calls', project, 'turns', jobId, 'prompts']
  const start = ['trajectory', 'history', 'turn'].map((name) => equal(place(name), 0))
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }) => {
      const known = client.getQueryData<Turn[]>(queryKey) ?? []
      const next = from(place('group'), lastGroupOf(known) + 1)
      const which = [equal(place('job_id'), jobId), ...start, next]
      return [...known, ...(await readTurns(project, which, { signal, with: ['inputs'] }))]
    },
    staleTime: Number.POSITIVE_INFINITY,
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
