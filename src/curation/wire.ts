import { z } from 'zod'
import { CallsFilter } from '../trace/calls/messages/list-wire.ts'
import type { ProjectPath } from '../trace/project-path-wire.ts'
import { Query, SortKeys } from '../trace/query-language/wire.ts'
import { ExperimentalConfig, SftJobCreateReq } from '../training/jobs/wire.ts'

/** Calls that one request reads: a record of each is in memory, and one reply covers all of them. */
export const CALLS_MAX = 50_000

/** Evaluations in one request: as many as a filter takes ids. */
const EVALUATIONS_MAX = 1000

/** Columns of one dataset; each is read of every call. */
const COLUMNS_MAX = 64

const NAME_CHARS_MAX = 128
const PATH_CHARS_MAX = 512

/** Path steps separated by dots; a dot within a name is written `\.`. */
const Path = z
  .string()
  .max(PATH_CHARS_MAX)
  .regex(/^(?:\\.|[^.\\])+(?:\.(?:\\.|[^.\\])+)*$/, 'A path is names or indexes with dots between them')

const CallPath = Path.regex(
  /^(?:inputs|output|attributes|summary)(?:\.|$)/,
  'A path begins with inputs, output, attributes or summary',
)

const Name = z.string().min(1).max(NAME_CHARS_MAX)

/**
 * The filter of lists of calls, which ignores unknown members. Here they are refused: a misspelt one would select too
 * many calls.
 */
const Filter = z.strictObject(CallsFilter.shape)

const From = z
  .union([
    z.strictObject({
      calls: z.strictObject({
        filter: Filter.nullish(),
        query: Query.nullish(),
        sort_by: SortKeys.nullish(),
        limit: z.int().min(1).max(CALLS_MAX).nullish(),
      }),
    }),
    z.strictObject({
      annotation_queue: z.strictObject({ queue_id: z.string(), annotator: z.string().nullish() }),
    }),
    z.strictObject({
      eval_results: z.strictObject({
        evaluation_call_ids: z.array(z.string()).min(1).max(EVALUATIONS_MAX),
      }),
    }),
  ])
  .meta({ id: 'CollectFrom' })
export type From = z.output<typeof From>

/** The newest feedback of a type, the newest annotation, or a scorer's output for a prediction. */
const Score = z
  .union([
    z.strictObject({ feedback_type: z.string().min(1).max(PATH_CHARS_MAX), path: Path }),
    z.strictObject({ annotation: Name }),
    z.strictObject({ scorer: z.string().min(1).max(PATH_CHARS_MAX), path: Path.nullish() }),
  ])
  .meta({ id: 'CollectScore', description: 'Booleans count as 0 and 1' })
export type Score = z.output<typeof Score>

const Where = z.strictObject({ min_score: z.number().nullish(), max_score: z.number().nullish() })
export type Where = z.output<typeof Where>

/** Where a call keeps its conversation; `system` is the text itself. */
const Messages = z.strictObject({ prompt: CallPath, answer: CallPath, system: z.string().nullish() })
export type Messages = z.output<typeof Messages>

const anyTraining = {
  model: Name.meta({ description: 'The name of a model of the project, or its id' }),
  base_model: z
    .string()
    .nullish()
    .meta({ description: 'Registers the model if the project does not have it' }),
}
const SftTraining = z.strictObject({ ...anyTraining, config: SftJobCreateReq.shape.config })
export type SftTraining = z.output<typeof SftTraining>
const RlTraining = z.strictObject({ ...anyTraining, config: ExperimentalConfig.nullish() })
export type RlTraining = z.output<typeof RlTraining>

const Columns = z
  .record(Name, CallPath)
  .refine((columns) => Object.keys(columns).length <= COLUMNS_MAX, `At most ${COLUMNS_MAX} columns`)
  .refine((columns) => !Object.hasOwn(columns, 'call'), 'The column call is the call that a row came from')

const Into = z
  .union([
    z.strictObject({ dataset: z.strictObject({ name: Name, columns: Columns.nullish() }) }),
    z.strictObject({ sft: z.strictObject({ name: Name, train: SftTraining.nullish() }) }),
    z.strictObject({
      trajectory_groups: z.strictObject({
        name: Name.default('trajectory-groups'),
        group_by: CallPath.nullish(),
        reward: CallPath.nullish(),
        train: RlTraining.nullish(),
      }),
    }),
  ])
  .meta({ id: 'CollectInto' })
export type Into = z.output<typeof Into>

export const CollectReq = z.strictObject({
  from: From,
  score: Score.nullish(),
  where: Where.nullish(),
  messages: Messages.nullish(),
  into: Into,
})
export type CollectReq = ProjectPath & z.output<typeof CollectReq>

const LeftOut = z.object({ reason: z.string(), count: z.int(), example_call_id: z.string() })
export type LeftOut = z.output<typeof LeftOut>

export const CollectRes = z
  .object({
    rows: z.int(),
    left_out: z.array(LeftOut),
    dataset_ref: z.string(),
    groups: z.int().nullable(),
    job_id: z.string().nullable(),
  })
  .meta({
    id: 'Collected',
    description:
      'groups: of trajectories, where those were wanted. job_id: of the training job, where one was.',
  })
export type CollectRes = z.output<typeof CollectRes>
