import { z } from 'zod'
import type { Projects } from '../../accounts/projects.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import type { ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { addBegun, createEraser, type Erased, type EraserDeps } from './eraser.ts'
import type { ErasureRow } from './queries.ts'
import * as queries from './queries.ts'

/** An erasure is never given up: at one attempt a minute, this is two years. */
const ATTEMPTS_MAX = 1_000_000

/** A disk that is full, or a database that cannot be reached, may be back in a minute. */
const RETRY_MS = 60_000

/**
 * Erasures under way: most of the time each waits until the database removes replaced files, half a minute to 8 minutes
 * later.
 */
const AT_ONCE = 64

/**
 * The name of the user travels in the job, which is removed when it is done: the receipt has the pseudonym alone. It
 * means one account only, since it is free again in the transaction that ends the erasure and not before.
 */
const ErasurePayload = z.object({ entity: z.string().nullable(), user: z.string().nullable() })
export type ErasurePayload = z.output<typeof ErasurePayload>

export interface ErasureJobsDeps extends EraserDeps {
  jobQueue: JobQueue
  projects: EraserDeps['projects'] & { closed: Pick<Projects['closed'], 'reopen'> }
  dropControlLog: () => void
}

/** Declares the jobs that carry erasures out; each has the id of its receipt. */
export function defineErasureJobs(deps: ErasureJobsDeps): JobsOfKind<ErasurePayload> {
  const { control, jobQueue, projects, removals, dropControlLog } = deps
  const erase = createEraser(deps)

  async function erasedOf(row: ErasureRow, { entity, user }: ErasurePayload): Promise<Erased> {
    return {
      projectIds: await queries.projectsOf(control, row.id),
      ...(entity !== null && { entity }),
      ...(user !== null && { user: { name: user, pseudonym: row.subject } }),
    }
  }

  async function freeNames(tx: ControlTx, { entity, user }: Erased): Promise<(() => Promise<void>)[]> {
    const names = { ...(entity !== undefined && { entity }), ...(user !== undefined && { user }) }
    const after = []
    for (const removal of removals) after.push(await removal.freeNames?.(tx, names))
    return after.filter((done) => done !== undefined)
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
      const committed = await control.transaction().execute(async (tx) => {
        await fence(tx)
        const { begun } = await addBegun(projects, tx, { id, ...erased })
        if (begun > 0) throw new Error(`${begun} projects were begun while their entity was erased`)
        const after = await freeNames(tx, erased)
        await queries.updateErasure(tx, id, { gone_at: nowIso() })
        await queries.deleteProjectsOf(tx, id)
        return after
      })
      projects.closed.reopen(id)
      for (const done of committed) await done()
      dropControlLog()
    },
    giveUp: async () => undefined,
  })
}
