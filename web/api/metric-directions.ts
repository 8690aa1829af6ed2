import { queryOptions } from '@tanstack/react-query'
import { askJson } from './client.ts'
import { objectOf } from './json.ts'
import { listObjects } from './objects.ts'

export type Direction = 'less' | 'more'

/** Whether less or more of a metric is better, by its name; only metrics whose direction has been set. */
export type Directions = ReadonlyMap<string, Direction>

/** The object of a project with the directions that people set; its newest version has all of them. */
export const DIRECTIONS_OBJECT = 'heddle_metric_directions'

export function directionsQuery(project: string) {
  return queryOptions({
    queryKey: ['objects', project, DIRECTIONS_OBJECT],
    queryFn: ({ signal }) => readDirections(project, signal),
  })
}

async function readDirections(project: string, signal: AbortSignal): Promise<Directions> {
  const filter = { object_ids: [DIRECTIONS_OBJECT], latest_only: true }
  const [latest] = await listObjects(project, filter, { limit: 1, values: 'with', signal })
  const stored = Object.entries(objectOf(objectOf(latest?.val)['directions']))
  return new Map(
    stored.flatMap(([metric, direction]): [string, Direction][] =>
      direction === 'less' || direction === 'more' ? [[metric, direction]] : [],
    ),
  )
}

/** Stores for the whole project in which direction a metric is better. @returns the resulting directions */
export async function saveDirection(
  project: string,
  metric: string,
  direction: Direction,
): Promise<Directions> {
  // Directions that others set since the page was loaded are kept.
  const known = await readDirections(project, AbortSignal.timeout(SAVE_MS))
  const directions = new Map(known).set(metric, direction)
  // The time makes a return to an earlier decision a new version instead of the old one.
  const val = { directions: Object.fromEntries(directions), changed_at: new Date().toISOString() }
  const body = { obj: { project_id: project, object_id: DIRECTIONS_OBJECT, val } }
  await askJson('/obj/create', { body, isRepeatable: true })
  return directions
}

/** Milliseconds that a person waits at most for the choice to be stored. */
const SAVE_MS = 10_000
