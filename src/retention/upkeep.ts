import { z } from 'zod'
import { messageOf } from '../errors.ts'
import { newId } from '../ids.ts'
import type { JobQueue } from '../jobs/job-queue.ts'
import type { Log } from '../log.ts'
import type { Removal } from '../removal.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import { isoIn } from '../time.ts'
import type { RetentionSettings } from './settings/service.ts'

/** A run that finds nothing costs some queries. */
const EVERY_MS = 3_600_000

/** After a change of settings, others may follow. */
const SOON_MS = 60_000

/**
 * What clients deleted is removed from the disk when some of it was deleted longer ago than this: a rewrite of the
 * table then removes the deletions of hours. With the time between two runs, and that of a rewrite, it stays below 24
 * hours.
 */
const DELETED_FOR_MS = 6 * 3_600_000

/** Tries of one run; the next one comes within the hour. */
const ATTEMPTS_MAX = 3

const Nothing = z.object({})

/** Removes what is too old by the settings of its project, and from the disk what was deleted. */
export interface Upkeep {
  /**
   * Looks once. What fails does not keep the rest from being done.
   * @param deletedBefore ISO 8601; what was deleted later may stay
   * @throws the first failure, at the end
   */
  run(signal: AbortSignal, deletedBefore?: string): Promise<void>
  /** Looks every hour, as a job; also after a restart. */
  start(): Promise<void>
}

export interface UpkeepDeps {
  control: ControlDb
  jobQueue: JobQueue
  log: Pick<Log, 'warn'>
  settings: RetentionSettings
  removals: readonly Removal[]
  dropControlLog: () => void
}

export function createUpkeep(deps: UpkeepDeps): Upkeep {
  const { control, jobQueue, log, settings, removals, dropControlLog } = deps

  const jobs = jobQueue.define({
    kind: 'upkeep',
    payload: Nothing,
    concurrency: 1,
    attemptsMax: ATTEMPTS_MAX,
    keeps: 'failures',
    async handle(_job, { signal }) {
      await run(signal)
      await runIn(EVERY_MS)
    },
    giveUp: () => runIn(EVERY_MS),
  })

  /** Adds a run; one that waits becomes due no later than this one. */
  async function runIn(ms: number): Promise<void> {
    const job = { id: newId(), payload: {}, singletonKey: 'upkeep', runAt: isoIn(ms) }
    await control.transaction().execute((tx) => jobs.addOnceIn(tx, job))
    jobs.wake()
  }

  async function run(signal: AbortSignal, deletedBefore = isoIn(-DELETED_FOR_MS)): Promise<void> {
    const failures: unknown[] = []
    const attempt = async (work: () => Promise<void> | undefined): Promise<void> => {
      signal.throwIfAborted()
      try {
        await work()
      } catch (error) {
        if (signal.aborted) throw error
        log.warn({ reason: messageOf(error) }, 'old or deleted data could not be removed yet')
        failures.push(error)
      }
    }
    for (const [kind, cutoffs] of await settings.cutoffs())
      if (cutoffs.length > 0)
        for (const { expire } of removals) await attempt(() => expire?.[kind]?.(cutoffs, signal))
    for (const removal of removals) await attempt(() => removal.purge?.(deletedBefore, signal))
    dropControlLog()
    if (failures.length > 0) throw failures[0]
  }

  settings.onChange(() => runIn(SOON_MS))

  return { run, start: () => runIn(SOON_MS) }
}
