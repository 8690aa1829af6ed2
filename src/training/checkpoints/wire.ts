import { z } from 'zod'
import { PageQuery, pageOf } from '../../wire/page-wire.ts'

/** Wire: clients read `id`, `step` and `metrics`. */
export const Checkpoint = z
  .object({
    id: z.uuid(),
    step: z.int(),
    metrics: z.record(z.string(), z.number()),
    tags: z.array(z.string()),
    job_id: z.string().nullable(),
    dataset_ref: z.string().nullable().meta({ description: 'Of the job: what it was trained on' }),
    created_at: z.string(),
  })
  .meta({ id: 'Checkpoint' })

const CheckpointFile = z
  .object({ name: z.string(), size: z.int(), digest: z.string() })
  .meta({ id: 'CheckpointFile', description: 'digest: SHA-256, hexadecimal' })

const MergedModel = z.object({ logprob_gap_max: z.number(), files: z.array(CheckpointFile) }).meta({
  id: 'MergedModel',
  description:
    'The base model with the adapter merged into it. logprob_gap_max: over some sample texts, the largest difference, in nats, between its log-probabilities and those of base and adapter, both in full precision.',
})

/** One checkpoint with its files. */
export const CheckpointRes = Checkpoint.extend({
  adapter_digest: z.string(),
  files: z.array(CheckpointFile),
  merged: MergedModel.nullable(),
}).meta({ id: 'CheckpointDetails' })
export type CheckpointRes = z.input<typeof CheckpointRes>

export const ModelPath = z.object({ model_id: z.string() })

/** `checkpoint` is a step (`3` or `step3`), `latest`, `best`, an artifact version (`v3`) or a tag. */
export const CheckpointPath = ModelPath.extend({ checkpoint: z.string() })
export type CheckpointPath = z.output<typeof CheckpointPath>

export const CheckpointFilePath = CheckpointPath.extend({ file: z.string() })
export type CheckpointFilePath = z.output<typeof CheckpointFilePath>

export const CheckpointsListQuery = PageQuery.extend({ order: z.enum(['asc', 'desc']).default('asc') })
export type CheckpointsListQuery = z.output<typeof CheckpointsListQuery>

export const CheckpointsListRes = pageOf(Checkpoint).meta({ id: 'CheckpointPage' })
export type CheckpointsListRes = z.input<typeof CheckpointsListRes>

/** Far above what a model has; bounds one statement. */
const STEPS_MAX = 10_000

/** Wire: a DELETE with a JSON body. */
export const CheckpointsDeleteReq = z.object({ steps: z.array(z.int()).max(STEPS_MAX) })
export type CheckpointsDeleteReq = z.output<typeof CheckpointsDeleteReq>

export const CheckpointsDeleteRes = z
  .object({ deleted_count: z.int(), not_found_steps: z.array(z.int()) })
  .meta({ id: 'CheckpointsDeleted' })
export type CheckpointsDeleteRes = z.input<typeof CheckpointsDeleteRes>

/** Tags may not look like a step or a version, nor be a word that means one. */
const TAG_PATTERN = /^(?!(?:step|v)?\d+$|latest$|best$|newest$)[A-Za-z0-9][A-Za-z0-9._-]*$/

export const TagPath = CheckpointPath.extend({
  tag: z
    .string()
    .max(128)
    .regex(
      TAG_PATTERN,
      'Tags are letters, digits, ".", "_" and "-", and no step, version, "latest" or "best"',
    ),
})
export type TagPath = z.output<typeof TagPath>

export const TagsRes = z.object({ tags: z.array(z.string()) }).meta({ id: 'CheckpointTags' })
export type TagsRes = z.input<typeof TagsRes>

/** The source of the checkpoint: a model by id or by `entity/project/name`, and one of its checkpoints. */
export const ForkReq = z.strictObject({
  from_model: z.string().min(1).max(512),
  checkpoint: z.string().min(1).max(128).default('latest'),
})
export type ForkReq = z.output<typeof ForkReq>

/** A file's bytes. */
export const CheckpointBytes = z.unknown().meta({ id: 'CheckpointBytes' })
