import { z } from 'zod'
import type { JsonText } from '../../json/lossless-json.ts'
import { MONITOR_CLASS } from '../../trace/objects/object-class.ts'
import type { Objects } from '../../trace/objects/service.ts'
import { Query } from '../../trace/query-language/wire.ts'
import { CLASSIFIER_CLASS } from '../scorers/classifier.ts'
import { SCORERS_MAX } from '../scorers/load-scorer.ts'

/** A conversation without a new call for this long has ended. */
const DEBOUNCE_SECONDS_MAX = 30 * 24 * 60 * 60

/**
 * Scores the calls of a trace or thread once, when no other has followed for a while: the last one alone, or all calls
 * of that time together.
 */
const Debounce = z.looseObject({
  aggregation_field: z.enum(['trace_id', 'thread_id']),
  aggregation_method: z.enum(['last_message', 'all_messages']).nullish(),
  timeout_seconds: z.number().min(0).max(DEBOUNCE_SECONDS_MAX),
})

/** Names of ops of one monitor. */
const OP_NAMES_MAX = 1_000

/** Monitors that run in one project; with their scorers they bound the tasks of a call. */
const RUNNING_MAX = 100

/** Different texts. Whether there are too many is seen before any of them is checked. */
function textsUpTo(max: number) {
  return z
    .array(z.unknown())
    .max(max)
    .pipe(z.array(z.string()))
    .transform((texts) => [...new Set(texts)])
}

/** The value of a `Monitor` as clients publish it. */
const Monitor = z.looseObject({
  // The classes that this server runs.
  _class_name: z.enum([MONITOR_CLASS, CLASSIFIER_CLASS]),
  sampling_rate: z.number().min(0).max(1).default(1),
  scorers: textsUpTo(SCORERS_MAX).refine((refs) => refs.length > 0, 'A monitor has at least one scorer'),
  op_names: textsUpTo(OP_NAMES_MAX).default([]),
  query: z.unknown().transform(withoutMarks).pipe(Query.nullish()).optional(),
  is_traced: z.boolean().default(true),
  scorer_debounce_config: Debounce.nullish(),
})

/** In place of a key: monitors act with the rights of their publisher, and usage is counted for no key. */
export const MONITORS_KEY_ID = 'monitors'

/** Which calls are to be scored, and by what. */
export interface ActiveMonitor extends z.output<typeof Monitor> {
  ref: string
  object_id: string
  digest: string
  /** Who published it. */
  user: string
}

/** The version of a monitor that was published last. */
export interface KnownMonitor {
  object_id: string
  digest: string
  ref: string
  class_name: string
  is_active: boolean
  /** Absent where it is not active, or cannot run. */
  runs?: ActiveMonitor
  /** Why an active monitor cannot run. */
  problems: string[]
}

/** The monitors of a project as they were published last, which may be once more as they were before. */
export async function knownMonitors(
  objects: Pick<Objects, 'lastPublished'>,
  projectId: string,
): Promise<KnownMonitor[]> {
  const objs = await objects.lastPublished(projectId, MONITOR_CLASS)
  let running = 0
  return objs.map((obj) => {
    const monitor = readMonitor(projectId, { ...obj, user: obj.wb_user_id ?? '' })
    if (monitor.runs === undefined || running++ < RUNNING_MAX) return monitor
    const { runs: _, ...stopped } = monitor
    return { ...stopped, problems: [`${RUNNING_MAX} other monitors of the project run, which is the most`] }
  })
}

/** What names a monitor in all its versions: its ref without the scheme and the version. */
export function objectOf({ ref }: Pick<KnownMonitor, 'ref'>): string {
  const [object = ''] = ref.split(':').slice(1, 2)
  return object
}

/** The monitor in a value, or the reason why it cannot run. */
export function readMonitor(
  projectId: string,
  published: { object_id: string; digest: string; user: string; val: JsonText | null },
): KnownMonitor {
  const { object_id, digest, user } = published
  const value = published.val?.value()
  const named = Named.safeParse(value).data
  const ref = `weave:///${projectId}/object/${object_id}:${digest}`
  const is_active = named?.active === true
  const known = { object_id, digest, ref, class_name: named?._class_name ?? MONITOR_CLASS, is_active }
  if (!is_active) return { ...known, problems: [] }
  const monitor = Monitor.safeParse(value)
  if (monitor.success)
    return { ...known, runs: { ...monitor.data, ref, object_id, digest, user }, problems: [] }
  return { ...known, problems: monitor.error.issues.slice(0, PROBLEMS_MAX).map(described) }
}

/** Issues in one message; a monitor has some ten members. */
const PROBLEMS_MAX = 10

const Named = z.looseObject({ _class_name: z.string().optional(), active: z.unknown() })

function described({ path, message }: z.core.$ZodIssue): string {
  if (path[0] === '_class_name')
    return `This server runs monitors of the classes ${MONITOR_CLASS} and ${CLASSIFIER_CLASS} only`
  return `${path.join('.')}: ${message}`
}

/** A query without the class names that clients store with every part of it. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([key]) => !['_type', '_class_name', '_bases'].includes(key))
  return Object.fromEntries(members.map(([key, member]) => [key, withoutMarks(member)]))
}
