import { z } from 'zod'

const Included = z.boolean().nullish()

export const ProjectStatsReq = z.object({
  project_id: z.string(),
  include_trace_storage_size: Included,
  include_object_storage_size: Included,
  include_table_storage_size: Included,
  include_file_storage_size: Included,
})
export type ProjectStatsReq = z.output<typeof ProjectStatsReq>

/** Stored bytes, deleted items included; 0 where not requested. */
export const ProjectStatsRes = z.object({
  trace_storage_size_bytes: z.int(),
  objects_storage_size_bytes: z.int(),
  tables_storage_size_bytes: z.int(),
  files_storage_size_bytes: z.int(),
})
export type ProjectStatsRes = z.input<typeof ProjectStatsRes>

export const ProjectReq = z.object({ project_id: z.string() })
export type ProjectReq = z.output<typeof ProjectReq>

/** A hundred years: longer is without end. */
export const RETENTION_DAYS_MAX = 36_500

export const RetentionUpdateReq = z.object({
  project_id: z.string(),
  retention_days: z.int().min(1).max(RETENTION_DAYS_MAX).nullish(),
})
export type RetentionUpdateReq = z.output<typeof RetentionUpdateReq>

/** Wire: null keeps calls for ever. */
export const RetentionRes = z.object({ retention_days: z.int().nullable() })
export type RetentionRes = z.input<typeof RetentionRes>
export const SamplingRes = z.object({ sample_rate: z.number(), dry_run: z.boolean() })
export type SamplingRes = z.input<typeof SamplingRes>
export const SensitiveDataRes = z.object({ policy: z.enum(['off', 'pii-v1']) })
export type SensitiveDataRes = z.input<typeof SensitiveDataRes>

/** A project and the calls that started in it in the last 24 hours. */
export const ProjectActivity = z
  .object({
    entity: z.string(),
    project: z.string(),
    created_at: z.string(),
    /** The start of the newest call, in or before these hours. */
    last_call_at: z.string().nullable(),
    /** The last is the hour that ends now. */
    calls_by_hour: z.array(z.int()),
    /** How many calls ended with an exception in these hours. */
    failed: z.int(),
  })
  .meta({ id: 'ProjectActivity' })
export type ProjectActivity = z.input<typeof ProjectActivity>
/** Of all projects without `find`; else of those with this part in `entity/project`, in any case. */
export const ActivityReq = z.strictObject({ find: z.string().default('') })
export type ActivityReq = z.output<typeof ActivityReq>
export const ActivityRes = z.object({
  projects: z.array(ProjectActivity),
  has_more: z.boolean().meta({
    description: 'Whether there are more such projects, which were used longer ago; `find` finds them',
  }),
})
export type ActivityRes = z.input<typeof ActivityRes>
