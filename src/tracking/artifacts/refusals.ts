import { ClientError } from '../../errors.ts'
import type { Runs } from '../runs/service.ts'

/**
 * Does a part of an upload; where it is refused, the run that logs the artifact gets an alert.
 * @throws what the work throws
 */
export type TellRun = <Done>(
  of: { run_id: string | null; name: string },
  work: () => Promise<Done>,
) => Promise<Done>

/**
 * Wire: clients show why an artifact was refused only to programs that wait for it; others end as if it had been kept.
 */
export function createTellRun(runs: Pick<Runs, 'alert' | 'byId'>): TellRun {
  async function tell(run_id: string, title: string, text: string): Promise<void> {
    const run = await runs.byId(run_id)
    if (run !== undefined) await runs.alert(run, { title, text, severity: 'ERROR' })
  }

  return async ({ run_id, name }, work) => {
    try {
      return await work()
    } catch (error) {
      if (run_id !== null && error instanceof ClientError && error.status < 500)
        await tell(run_id, `The artifact ${name} was refused`, error.message)
      throw error
    }
  }
}
