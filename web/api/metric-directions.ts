import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'
import { objectOf } from './json.ts'
import { listObjects } from './objects.ts'

export type Direction = 'less' | 'more'

/** Whether less or more of a metric is better, by its name; only metrics whose direction has been set. */
export type Directions = ReadonlyMap<string, Direction>

/** The object of a project that keeps what people decided; its newest version holds all of it. */
export const DIRECTIONS_OBJECT = 'heddle_metric_directions'

export function directionsQuery(project: string) {
  return queryOptions({
    queryKey: ['objects', project, DIRECTIONS_OBJECT],
    queryFn: ({ signal }) => readDirections(project, signal),
  })
}

async function readDirections(project: string, signal: AbortSignal): Promise<Directions> {
  const filter = { object_ids: [DIRECTIONS_OBJECT], latest_only: true }
  const [latest] = await listObjects(project, filter, { signal, values: 'with' })
  const stored = Object.entries(objectOf(objectOf(latest?.val)['directions']))
  return new Map(
    stored.flatMap(([metric, direction]): [string, Direction][] =>
      direction === 'less' || direction === 'more' ? [[metric, direction]] : [],
    ),
  )
}

/** Stores, for the whole project, in which direction a metric is better. @returns what then holds */
export async function saveDirection(
  project: string,
  metric: string,
  direction: Direction,
): Promise<Directions> {
  // What others decided since the page was loaded must stay.
  const known = await readDirections(project, AbortSignal.timeout(SAVE_MS))
  const directions = new Map(known).set(metric, direction)
  // With its time, going back to an earlier decision is a version of its own and not the old one again.
  const val = { directions: Object.fromEntries(directions), changed_at: new Date().toISOString() }
  await askJson('/obj/create', { body: { obj: { project_id: project, object_id: DIRECTIONS_OBJECT, val } } })
  return directions
}

/** Milliseconds that a person waits at most to hear whether a choice was kept. */
const SAVE_MS = 10_000
