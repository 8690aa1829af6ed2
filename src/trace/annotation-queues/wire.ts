import { z } from 'zod'
import { SortKeys } from '../query-language/wire.ts'

const DateTime = z.string().meta({ format: 'date-time' })

/** Shown in lists; longer texts belong in the description. */
const NAME_CHARS_MAX = 1024
const DESCRIPTION_CHARS_MAX = 64 * 1024

/** One form for people to fill in has fewer fields. */
const SCORER_REFS_MAX = 256

/** Every item keeps the list, and replies show it with each. */
const DISPLAY_FIELDS_MAX = 32
const DISPLAY_FIELD_CHARS_MAX = 256

/** A page of queues is shown together. */
const STATS_QUEUES_MAX = 1000

const Name = z.string().max(NAME_CHARS_MAX)
const Description = z.string().max(DESCRIPTION_CHARS_MAX)
const ScorerRefs = z.array(z.string().max(NAME_CHARS_MAX)).max(SCORER_REFS_MAX)

export const AnnotationQueue = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    description: z.string(),
    scorer_refs: z.array(z.string()),
    created_at: DateTime,
    created_by: z.string(),
    updated_at: DateTime,
    deleted_at: DateTime.nullable(),
  })
  .meta({ id: 'AnnotationQueue' })
export type AnnotationQueue = z.output<typeof AnnotationQueue>

export const QueuePath = z.object({ queue_id: z.string() })
type QueuePath = z.output<typeof QueuePath>
export const QueueItemPath = z.object({ queue_id: z.string(), item_id: z.string() })

/** Wire: reading and deleting say the project in the query string. */
export const QueueProject = z.object({ project_id: z.string() })
export type QueueName = QueuePath & z.output<typeof QueueProject>
export const QueueRes = z.object({ queue: AnnotationQueue })
export type QueueRes = z.input<typeof QueueRes>

export const QueueCreateReq = z.object({
  project_id: z.string(),
  name: Name,
  description: Description.default(''),
  scorer_refs: ScorerRefs,
})
export type QueueCreateReq = z.output<typeof QueueCreateReq>
export const QueueCreateRes = z.object({ id: z.string() })
export type QueueCreateRes = z.input<typeof QueueCreateRes>

/** Wire: a field that is null or absent stays as it is. */
export const QueueUpdateReq = z.object({
  project_id: z.string(),
  name: Name.nullish(),
  description: Description.nullish(),
  scorer_refs: ScorerRefs.nullish(),
})
export type QueueUpdateReq = QueuePath & z.output<typeof QueueUpdateReq>

export const QueuesQueryReq = z.object({
  project_id: z.string(),
  /** Part of the name, in upper or lower case. */
  name: z.string().nullish(),
  sort_by: SortKeys.nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
})
export type QueuesQueryReq = z.output<typeof QueuesQueryReq>

export const QueuesStatsReq = z.object({
  project_id: z.string(),
  queue_ids: z.array(z.string()).max(STATS_QUEUES_MAX),
})
export type QueuesStatsReq = z.output<typeof QueuesStatsReq>

/** `completed_items`: items that an annotator has completed or skipped. */
export const QueueStats = z
  .object({ queue_id: z.string(), total_items: z.int(), completed_items: z.int() })
  .meta({ id: 'AnnotationQueueStats' })
export const QueuesStatsRes = z.object({ stats: z.array(QueueStats) })
export type QueuesStatsRes = z.input<typeof QueuesStatsRes>

export const QueueAddCallsReq = z.object({
  project_id: z.string(),
  call_ids: z.array(z.string()),
  display_fields: z.array(z.string().max(DISPLAY_FIELD_CHARS_MAX)).max(DISPLAY_FIELDS_MAX),
})
export type QueueAddCallsReq = QueuePath & z.output<typeof QueueAddCallsReq>
export const QueueAddCallsRes = z.object({ added_count: z.int(), duplicates: z.int() })
export type QueueAddCallsRes = z.input<typeof QueueAddCallsRes>

export const AnnotationState = z.enum(['unstarted', 'in_progress', 'completed', 'skipped'])

/** The state is the newest of any annotator's, who is `annotator_user_id`; `updated_at` is when it came to that. */
export const AnnotationQueueItem = z
  .object({
    id: z.string(),
    project_id: z.string(),
    queue_id: z.string(),
    call_id: z.string(),
    call_started_at: DateTime,
    call_ended_at: DateTime.nullable(),
    call_op_name: z.string(),
    call_trace_id: z.string(),
    display_fields: z.array(z.string()),
    added_by: z.string().nullable(),
    annotation_state: AnnotationState,
    annotator_user_id: z.string().nullable(),
    created_at: DateTime,
    created_by: z.string(),
    updated_at: DateTime,
    deleted_at: DateTime.nullable(),
    /** Counted from 1 among the items in any state; null unless requested. */
    position_in_queue: z.int().nullable(),
  })
  .meta({ id: 'AnnotationQueueItem' })
export type AnnotationQueueItem = z.output<typeof AnnotationQueueItem>

export const QueueItemsFilter = z.object({
  id: z.string().nullish(),
  call_id: z.string().nullish(),
  call_op_name: z.string().nullish(),
  call_trace_id: z.string().nullish(),
  added_by: z.string().nullish(),
  annotation_states: z.array(AnnotationState).nullish(),
})
export type QueueItemsFilter = z.output<typeof QueueItemsFilter>

export const QueueItemsQueryReq = z.object({
  project_id: z.string(),
  filter: QueueItemsFilter.nullish(),
  sort_by: SortKeys.nullish(),
  limit: z.int().nullish(),
  offset: z.int().nullish(),
  include_position: z.boolean().default(false),
})
export type QueueItemsQueryReq = QueuePath & z.output<typeof QueueItemsQueryReq>
export const QueueItemsQueryRes = z.object({ items: z.array(AnnotationQueueItem) })
export type QueueItemsQueryRes = z.input<typeof QueueItemsQueryRes>

/** Wire: `in_progress`, `completed` or `skipped`; another text is no violation of the schema but a 400. */
export const ItemProgressReq = z.object({ project_id: z.string(), annotation_state: z.string() })
export type ItemProgressReq = z.output<typeof QueueItemPath> & z.output<typeof ItemProgressReq>
export const ItemProgressRes = z.object({ item: AnnotationQueueItem })
export type ItemProgressRes = z.input<typeof ItemProgressRes>
