import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import pMap from 'p-map'
import type { Log } from '../../../log.ts'
import { SILENCE_MS_MAX } from './connection.ts'
import type { RayJobs } from './jobs-api.ts'

/** In the data folder, which belongs to one server: a file for each job, named by its id. */
const FOLDER = 'ray-jobs'

/** A program without a connection ends by itself within this. */
const END_MS_MAX = SILENCE_MS_MAX + 5_000

/** For all jobs that are left. */
const CLEAR_MS_MAX = 120_000

/** To Ray at a time. */
const REQUESTS_MAX = 8

const POLL_MS = 500

/** The jobs of this server, also those that it left when it was last killed. */
export interface OwnJobs {
  /** Notes a job before it is submitted. */
  begin(id: string): void
  /** Marks a job as no longer in use. */
  end(id: string): void
  /**
   * Stops the jobs that are no longer in use, waits until they have ended, since they may write files that others read,
   * and removes their records from the cluster. @throws Error where Ray cannot be asked
   */
  clear(): Promise<void>
}

export function createOwnJobs(jobs: RayJobs, { dataFolder, log }: { dataFolder: string; log: Log }): OwnJobs {
  const folder = join(dataFolder, FOLDER)
  mkdirSync(folder, { recursive: true })
  const inUse = new Set<string>()
  const inTurn = pLimit(1)

  async function clear(id: string, signal: AbortSignal): Promise<void> {
    const until = performance.now() + END_MS_MAX
    for (let isStopped = false; ; ) {
      const job = await jobs.find(id, signal)
      if (job === undefined || job.hasEnded) {
        // A record that stays is harmless.
        if (job !== undefined) await jobs.forget(id, signal).catch(() => {})
        rmSync(join(folder, id), { force: true })
        return
      }
      if (!isStopped) {
        log.info({ job: id, status: job.status }, 'stopping a Ray job that is no longer in use')
        await jobs.stop(id, signal)
        isStopped = true
      }
      // One that waits for resources ends when it has them, and is looked at again before the next start.
      if (job.status !== 'RUNNING' || performance.now() > until) return
      await delay(POLL_MS, undefined, { signal })
    }
  }

  return {
    begin(id) {
      inUse.add(id)
      writeFileSync(join(folder, id), '')
    },
    end: (id) => void inUse.delete(id),
    clear: () =>
      inTurn(async () => {
        const signal = AbortSignal.timeout(CLEAR_MS_MAX)
        const left = readdirSync(folder).filter((id) => !inUse.has(id))
        await pMap(left, (id) => clear(id, signal), { concurrency: REQUESTS_MAX })
      }),
  }
}
