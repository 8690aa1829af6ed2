import type { ControlDb } from '../../stores/control-db/tables.ts'
import { onPolicyWarnings } from './on-policy.ts'
import { addEvent, listEvents } from './queries.ts'

/** Events of one job that an earlier attempt may have written: far more than one job has. */
const EVENTS_MAX = 1_000_000

export interface JobEvents {
  started(numSequences: number): Promise<void>
  gradientStep(metrics: Record<string, number>): Promise<void>
}

/**
 * Writes a job's events. A job that starts again repeats its steps exactly, so what an earlier attempt has written
 * is skipped: clients must not see a second `training_started`, nor more steps than announced.
 */
export async function createJobEvents(control: ControlDb, jobId: string): Promise<JobEvents> {
  const written = await listEvents(control, { job_id: jobId, afterPosition: 0, limit: EVENTS_MAX })
  const startedBefore = written.find((event) => event.type === 'training_started')
  let stepsToSkip = written.filter((event) => event.type === 'gradient_step').length
  const warned = new Set(
    written
      .filter((event) => event.type === 'on_policy_warning')
      .map((event) => (JSON.parse(event.data) as { code?: string }).code),
  )

  return {
    async started(num_sequences) {
      const data = { num_sequences }
      if (startedBefore === undefined) await addEvent(control, jobId, { type: 'training_started', data })
      else if (startedBefore.data !== JSON.stringify(data)) {
        throw new Error('The job was started again and came out with another number of sequences')
      }
    },

    async gradientStep(metrics) {
      if (stepsToSkip > 0) stepsToSkip--
      else await addEvent(control, jobId, { type: 'gradient_step', data: metrics })
      for (const warning of onPolicyWarnings(metrics)) {
        if (warned.has(warning.code)) continue
        warned.add(warning.code)
        await addEvent(control, jobId, { type: 'on_policy_warning', data: warning })
      }
    },
  }
}
