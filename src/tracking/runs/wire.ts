import { z } from 'zod'
import { recordOf } from '../../wire/bounded-wire.ts'
import { PageQuery, pageOf } from '../../wire/page-wire.ts'

export const RunPath = z.object({ entity: z.string(), project: z.string(), run: z.string() })
export type RunPath = z.output<typeof RunPath>

/** Lines of one file of a run. Wire: clients read their number as GraphQL's `Int`, which has 32 bits. */
export const LINES_MAX = 2 ** 31 - 1

/** Lines of one file, from line `offset` on. */
const FileChunk = z
  .object({
    offset: z.int().min(0).default(0),
    content: z.array(z.string()).default([]),
  })
  .refine(({ offset, content }) => offset + content.length <= LINES_MAX, {
    error: `A file has ${LINES_MAX} lines at most`,
    path: ['offset'],
  })
export type FileChunk = z.output<typeof FileChunk>

/** Files of one request. Wire: clients send four, and more of those that users name themselves. */
const FILES_MAX = 1_000

/**
 * Wire: a running client sends this every few seconds; one whose machine is about to be taken from it says so; the last
 * one ends the run.
 */
export const FileStreamReq = z.object({
  files: recordOf(FileChunk, FILES_MAX).nullish(),
  preempting: z.boolean().nullish(),
  complete: z.boolean().nullish(),
  exitcode: z.int().nullish(),
})
export type FileStreamReq = z.output<typeof FileStreamReq> & RunPath
export const FileStreamRes = z.object({ stopped: z.literal(true).optional() })
export type FileStreamRes = z.input<typeof FileStreamRes>

export const RunsListQuery = PageQuery.extend({ entity: z.string().optional(), project: z.string() })
export type RunsListQuery = z.output<typeof RunsListQuery>

const LONG = 'Absent in lists where it has more than 16 KiB'

export const RunItem = z
  .object({
    id: z.string(),
    entity: z.string(),
    project: z.string(),
    run: z.string(),
    display_name: z.string(),
    state: z.string(),
    job_type: z.string().nullable(),
    group: z.string().nullable(),
    tags: z.array(z.string()),
    notes: z.string().nullable(),
    config: z.record(z.string(), z.unknown()).optional().meta({ description: LONG }),
    summary: z.record(z.string(), z.unknown()).optional().meta({ description: LONG }),
    last_step: z.int(),
    exit_code: z.int().nullable(),
    created_at: z.string(),
    heartbeat_at: z.string(),
    ended_at: z.string().nullable(),
    created_by: z.string(),
  })
  .meta({ id: 'Run' })

export const RunsListRes = pageOf(RunItem)
export type RunsListRes = z.input<typeof RunsListRes>

/** A run with its newest alerts. */
export const RunRes = RunItem.extend({
  config: z.record(z.string(), z.unknown()),
  summary: z.record(z.string(), z.unknown()),
  alerts: z.array(
    z.object({
      id: z.string(),
      title: z.string(),
      text: z.string(),
      severity: z.enum(['INFO', 'WARN', 'ERROR']),
      created_at: z.string(),
    }),
  ),
}).meta({ id: 'RunWithAlerts' })
export type RunRes = z.input<typeof RunRes>

/** Keys that one request asks for: with ten thousand points each, the reply has some ten megabytes. */
const KEYS_MAX = 20

/** The first, lowest, highest and last point of one stretch of steps. */
const SAMPLES_MIN = 4

/** Points of one key in one reply. */
const POINTS_MAX = 10_000

export const MetricsQuery = z
  .object({
    keys: z
      .string()
      .default('')
      .transform((text) => text.split(',').filter((key) => key !== ''))
      .pipe(z.array(z.string()).max(KEYS_MAX))
      .meta({ description: 'Separated by commas' }),
    key: z
      .union([z.string(), z.array(z.string())])
      .default([])
      .transform((given) => [given].flat())
      .pipe(z.array(z.string()).max(KEYS_MAX))
      .meta({ description: 'One key, which may have commas; may be repeated' }),
    stream: z.enum(['history', 'system']).default('history'),
    after_step: z.int().default(-1),
    limit: z.int().min(1).max(POINTS_MAX).default(1_000),
    samples: z.int().min(SAMPLES_MIN).max(POINTS_MAX).optional().meta({
      description:
        'Instead of the first points: at most so many of all, the first, lowest, highest and last of each stretch of steps',
    }),
  })
  .refine(({ keys, key }) => keys.length + key.length <= KEYS_MAX, {
    error: `At most ${KEYS_MAX} keys`,
    path: ['key'],
  })
export type MetricsQuery = z.output<typeof MetricsQuery>

/** A value is null where it is not a finite number. */
const Point = z.object({ step: z.int(), value: z.number().nullable(), time: z.string() })

export const MetricsRes = z
  .object({
    keys: z.array(z.string()).meta({ description: 'Every key of the run, when none were asked for' }),
    data: z.array(
      z.object({
        key: z.string(),
        points: z.array(Point),
        has_more: z.boolean().meta({ description: 'Whether the run has more points of the key than these' }),
      }),
    ),
  })
  .meta({ id: 'RunMetrics' })
export type MetricsRes = z.input<typeof MetricsRes>

/** Query parameters of a signed URL of a run's file. */
export const RunFilePath = z.object({ run_id: z.string() })
export const RunFileQuery = z.object({
  name: z.string(),
  expires: z.int(),
  signature: z.string(),
})
export const RunFileUploadRes = z.object({})
export type RunFileUploadRes = z.input<typeof RunFileUploadRes>
export const RunFileBytes = z.string().meta({ description: 'The bytes of the file', format: 'binary' })
