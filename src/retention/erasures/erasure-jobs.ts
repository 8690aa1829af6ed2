import { z } from 'zod'
import type { Projects } from '../../accounts/projects.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import { nowIso } from '../../time.ts'
import { createEraser, type Erased, type EraserDeps } from './eraser.ts'
import type { ErasureRow } from './queries.ts'
import * as queries from './queries.ts'

/** An erasure is never given up: at one attempt a minute, this is two years. */
const ATTEMPTS_MAX = 1_000_000

/** A disk that is full, or a database that cannot be reached, may be back in a minute. */
const RETRY_MS = 60_000

/** Erasures under way: most of the time each waits until the database removes replaced files, half a minute to 8 minutes later. */
const AT_ONCE = 64

/**
 * The name of the user travels in the job, which is removed when it is done: the receipt has the pseudonym alone.
 */
const ErasurePayload = z.object({ entity: z.string().nullable(), user: z.string().nullable() })
export type ErasurePayload = z.output<typeof ErasurePayload>

export interface ErasureJobsDeps extends EraserDeps {
  jobQueue: JobQueue
  projects: { closed: Pick<Projects['closed'], 'reopen'> }
}

/** Declares the jobs that carry erasures out; each has the id of its receipt. */
export function defineErasureJobs(deps: ErasureJobsDeps): JobsOfKind<ErasurePayload> {
  const { control, jobQueue, projects } = deps
  const erase = createEraser(deps)

  async function erasedOf(row: ErasureRow, { entity, user }: ErasurePayload): Promise<Erased> {
    return {
      projectIds: await queries.projectsOf(control, row.id),
      ...(entity !== null && { entity }),
      ...(user !== null && { user: { name: user, pseudonym: row.subject } }),
    }
  }

  return jobQueue.define<ErasurePayload>({
    kind: 'erasure',
    payload: ErasurePayload,
    concurrency: AT_ONCE,
    attemptsMax: ATTEMPTS_MAX,
    keeps: 'failures',
    retryMs: () => RETRY_MS,
    async handle({ id, payload }, { signal, fence }) {
      const row = await queries.findErasure(control, id)
      if (row === undefined || row.gone_at !== null) return
      const erased = await erasedOf(row, payload)
      await erase(row, erased, signal)
      await control.transaction().execute(async (tx) => {
        await fence(tx)
        await queries.updateErasure(tx, id, { gone_at: nowIso() })
        await queries.deleteProjectsOf(tx, id)
      })
      projects.closed.reopen(id)
    },
    giveUp: async () => undefined,
  })
}
