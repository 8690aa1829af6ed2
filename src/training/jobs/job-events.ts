import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { dataWarnings, jobWarnings } from './data-warnings.ts'
import { onPolicyWarnings, type StepWarning } from './on-policy.ts'
import { addEvent, listEvents } from './queries.ts'

/** Events of one job that an earlier attempt may have written: far more than one job has. */
const EVENTS_MAX = 1_000_000

/** Runs a transaction that fails once another server has leased the job. */
export type FencedWrite = <Result>(work: (tx: ControlTx) => Promise<Result>) => Promise<Result>

export interface JobEvents {
  started(numSequences: number): Promise<void>
  gradientStep(metrics: Record<string, number>): Promise<void>
  /** After the last step, with the metrics of the job. */
  saved(metrics: Record<string, number>): Promise<void>
}

/**
 * Writes a job's events. A repeated job repeats its steps exactly, so events of an earlier attempt are skipped: clients
 * must not see a second `training_started`, nor more steps than announced.
 */
export async function createJobEvents(
  control: ControlDb,
  jobId: string,
  { write, countAnew }: { write: FencedWrite; countAnew: (tx: ControlTx) => Promise<void> },
): Promise<JobEvents> {
  const written = await listEvents(control, { job_id: jobId, afterPosition: 0, limit: EVENTS_MAX })
  const startedBefore = written.find((event) => event.type === 'training_started')
  let stepsToSkip = written.filter((event) => event.type === 'gradient_step').length
  const warned = new Set(
    written
      .filter((event) => event.type === 'on_policy_warning' || event.type === 'data_warning')
      .map((event) => (JSON.parse(event.data) as { code?: string }).code),
  )

  let wentOn = false

  /** The first step that no earlier attempt has come to shows that the job itself does not end its servers. */
  async function addStep(metrics: Record<string, number>): Promise<void> {
    await write(async (tx) => {
      await addEvent(tx, jobId, { type: 'gradient_step', data: metrics })
      if (!wentOn) await countAnew(tx)
    })
    wentOn = true
  }

  async function warn(type: 'on_policy_warning' | 'data_warning', warnings: readonly StepWarning[]) {
    for (const warning of warnings) {
      if (warned.has(warning.code)) continue
      warned.add(warning.code)
      await write((tx) => addEvent(tx, jobId, { type, data: warning }))
    }
  }

  return {
    async started(num_sequences) {
      const data = { num_sequences }
      if (startedBefore === undefined)
        await write((tx) => addEvent(tx, jobId, { type: 'training_started', data }))
      else if (startedBefore.data !== JSON.stringify(data)) {
        throw new Error('The job was started again and came out with another number of sequences')
      }
    },

    async gradientStep(metrics) {
      if (stepsToSkip > 0) stepsToSkip--
      else await addStep(metrics)
      await warn('on_policy_warning', onPolicyWarnings(metrics))
      await warn('data_warning', dataWarnings(metrics))
    },

    saved: (metrics) => warn('data_warning', jobWarnings(metrics)),
  }
}
