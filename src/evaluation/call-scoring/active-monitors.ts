import { z } from 'zod'
import type { Objects } from '../../trace/objects/service.ts'
import { Query } from '../../trace/query-language/wire.ts'

export const MONITOR_CLASS = 'Monitor'

/** A conversation that is quiet for longer has ended. */
const DEBOUNCE_SECONDS_MAX = 30 * 24 * 60 * 60

/**
 * Scores only the last call of a trace or thread, once no other has followed for a while. Wire: how `all_messages` would be
 * put before a scorer is said nowhere, so that such a monitor is none.
 */
const Debounce = z.looseObject({
  aggregation_field: z.enum(['trace_id', 'thread_id']),
  aggregation_method: z.literal('last_message').default('last_message'),
  timeout_seconds: z.number().min(0).max(DEBOUNCE_SECONDS_MAX),
})

/** The value of a `Monitor` as clients publish it. */
const Monitor = z.looseObject({
  active: z.literal(true),
  sampling_rate: z.number().min(0).max(1).default(1),
  scorers: z.array(z.string()).min(1),
  op_names: z.array(z.string()).default([]),
  query: z.unknown().transform(withoutMarks).pipe(Query.nullish()),
  is_traced: z.boolean().default(true),
  scorer_debounce_config: Debounce.nullish(),
})

/** Which calls are to be scored, and by what. */
export interface ActiveMonitor extends z.output<typeof Monitor> {
  ref: string
  /** Who published it. */
  user: string
}

/** The monitors of a project whose newest version is active. Monitors of other classes work in ways of their own. */
export async function activeMonitors(
  objects: Pick<Objects, 'query'>,
  projectId: string,
): Promise<ActiveMonitor[]> {
  const filter = {
    base_object_classes: [MONITOR_CLASS],
    leaf_object_classes: [MONITOR_CLASS],
    latest_only: true,
  }
  const { objs } = await objects.query({ project_id: projectId, filter })
  return objs.flatMap(({ val, object_id, digest, wb_user_id }) => {
    const monitor = Monitor.safeParse(val?.value())
    if (!monitor.success) return []
    const ref = `weave:///${projectId}/object/${object_id}:${digest}`
    return [{ ...monitor.data, ref, user: wb_user_id ?? '' }]
  })
}

/** A query without the names of classes that clients keep with every part of it. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([key]) => !['_type', '_class_name', '_bases'].includes(key))
  return Object.fromEntries(members.map(([key, member]) => [key, withoutMarks(member)]))
}
