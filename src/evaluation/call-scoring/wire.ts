import { z } from 'zod'

export const CallsScoreReq = z.object({
  project_id: z.string(),
  call_ids: z.array(z.string()),
  scorer_refs: z.array(z.string()),
})
export type CallsScoreReq = z.output<typeof CallsScoreReq>

export const CallsScoreRes = z.object({})
export type CallsScoreRes = z.input<typeof CallsScoreRes>

/** What becomes of a monitor. */
const MonitorState = z
  .object({
    object_id: z.string(),
    digest: z.string(),
    ref: z.string(),
    class_name: z.string(),
    is_active: z.boolean(),
    problems: z.array(z.string()).meta({ description: 'Why an active monitor does not do what it should' }),
    scored: z.int().meta({ description: 'Scores of all its versions' }),
    failed: z.int(),
    waiting: z.int().meta({
      description:
        'Scores of all its versions that are still to come; those of a monitor that is inactive or deleted are dropped when it is their turn',
    }),
    last_run_at: z.string().nullable(),
    last_error: z.string().nullable().meta({ description: 'Of all its versions' }),
    last_error_at: z.string().nullable(),
    last_error_digest: z.string().nullable().meta({ description: 'The version whose error it is' }),
  })
  .meta({ id: 'MonitorState' })

export const MonitorsRes = z.object({ monitors: z.array(MonitorState) })
export type MonitorsRes = z.input<typeof MonitorsRes>
