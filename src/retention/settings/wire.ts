import { z } from 'zod'
import { SettingsVersion } from '../../wire/settings-version-wire.ts'

/** A hundred years: longer is without end. */
const DAYS_MAX = 36_500

const Days = z.int().min(1).max(DAYS_MAX).nullable().default(null)

/** For how many days a project keeps each kind of data; null for those that are kept without end. */
export const Retention = z
  .strictObject({
    payloads: Days.meta({ description: 'Inputs since the start of a call, and outputs since its end' }),
    calls: Days.meta({ description: 'Whole calls with their feedback, since their start' }),
    files: Days.meta({ description: 'Files of the trace API, since they were last sent' }),
    trajectories: Days.meta({ description: 'The training data of jobs, since the end of the job' }),
    run_metrics: Days.meta({ description: 'Values that runs logged' }),
    run_logs: Days.meta({ description: 'Lines that programs of runs printed' }),
  })
  .meta({ id: 'Retention' })
export type Retention = z.output<typeof Retention>

export const StoredRetention = Retention.extend({ version: SettingsVersion }).meta({ id: 'StoredRetention' })
export type StoredRetention = z.output<typeof StoredRetention>

export const RetentionPath = z.object({ entity: z.string(), project: z.string() })
export type RetentionPath = z.output<typeof RetentionPath>
