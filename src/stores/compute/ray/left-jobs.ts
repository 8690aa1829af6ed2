import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pMap from 'p-map'
import type { Log } from '../../../log.ts'
import { SILENCE_MS_MAX } from './connection.ts'
import type { RayJobs } from './jobs-api.ts'

/** In the data folder, of which each server has one of its own. */
const SERVER_ID_FILE = 'ray-server-id'

/** Requests to Ray at a time. */
const STOPS_MAX = 8

/** A program without a connection ends by itself within this. */
const END_MS_MAX = SILENCE_MS_MAX + 5_000

/** The list of a large cluster, and some requests of 30 s at most. */
const ALL_MS_MAX = 120_000

const POLL_MS = 500

/** The key of the metadata by which jobs of a server are known. */
export const SERVER_KEY = 'heddle_server'

/** A name for this server among all that share a cluster, the same at every start. */
export function serverIdOf(dataFolder: string): string {
  const path = join(dataFolder, SERVER_ID_FILE)
  if (existsSync(path)) return readFileSync(path, 'utf8').trim()
  const id = randomUUID()
  writeFileSync(path, id)
  return id
}

/**
 * Stops the jobs that this server left when it was last killed, and resolves once those that ran have ended: they may
 * write what a job of now reads; it is called before there are any. Jobs of others are left alone. @throws Error where Ray cannot be asked
 */
export async function stopLeftJobs(
  jobs: RayJobs,
  { serverId, log }: { serverId: string; log: Log },
): Promise<void> {
  const signal = AbortSignal.timeout(ALL_MS_MAX)
  const left = async () =>
    (await jobs.list(signal)).filter(({ metadata }) => metadata[SERVER_KEY] === serverId)
  const found = await left()
  await pMap(
    found.filter(({ hasEnded }) => hasEnded),
    ({ id }) => jobs.forget(id, signal).catch(() => {}),
    { concurrency: STOPS_MAX },
  )
  const open = found.filter(({ hasEnded }) => !hasEnded)
  if (open.length === 0) return
  log.info({ jobs: open.map(({ id }) => id) }, 'stopping Ray jobs that were left when this server last ended')
  await pMap(open, ({ id }) => jobs.stop(id, signal), { concurrency: STOPS_MAX })
  const until = performance.now() + END_MS_MAX
  while (performance.now() < until && (await left()).some(({ status }) => status === 'RUNNING'))
    await delay(POLL_MS, undefined, { signal })
}
