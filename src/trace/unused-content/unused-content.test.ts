import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../ids.ts'
import { createJobQueue, type JobQueue } from '../../jobs/job-queue.ts'
import { NO_PEERS } from '../../stores/control-db/peers.ts'
import { openTestControlDb } from '../../stores/control-db/test-database.ts'
import { SILENT } from '../../test-log.ts'
import { useTestServer } from '../../testing.ts'
import { isoIn } from '../../time.ts'
import { createRemoveUnused } from './service.ts'

const server = useTestServer()
let control: Awaited<ReturnType<typeof openTestControlDb>>

beforeAll(async () => {
  control = await openTestControlDb()
})
afterAll(() => control[Symbol.asyncDispose]())

const NO_SIGNAL = new AbortController().signal

/** Removes contents by noting their digests. */
function openRemoval() {
  const removed = new Set<string>()
  const note = async (_project: string, digests: readonly string[]): Promise<void> => {
    for (const digest of digests) removed.add(digest)
  }
  const jobQueue = createJobQueue({ control, log: SILENT, peers: NO_PEERS })
  const { traces } = server.stores
  const removers = { tables: note, files: note }
  return { removed, jobQueue, removeUnused: createRemoveUnused({ traces, jobQueue, log: SILENT, removers }) }
}

/** Writes rows of files that nothing names. */
async function writeFiles(project_id: string, count: number): Promise<void> {
  const files = Array.from({ length: count }, (_, index) => {
    const digest = `${index}${newId()}`.replaceAll('-', '').slice(0, 43)
    return {
      project_id,
      digest,
      name: 'name',
      size_bytes: 1,
      stored_digest: digest,
      created_at: isoIn(-60_000),
    }
  })
  await server.stores.traces.insert('files', files)
}

/** Runs the jobs that wait now, whenever they are due. */
async function runWaiting(jobQueue: JobQueue, check: () => Promise<void>): Promise<void> {
  await control
    .updateTable('jobs')
    .set({ run_at: isoIn(0) })
    .execute()
  await using _started = await jobQueue.start()
  await check()
  await expect.poll(waiting).toEqual([])
}

const waiting = () => control.selectFrom('jobs').selectAll().where('kind', '=', 'unused_content').execute()

describe('files and tables that nothing names', () => {
  it('are removed after the change, also where a search finds but some of them', async () => {
    const project = server.newProject()
    await writeFiles(project, 4_100)
    const { removed, removeUnused } = openRemoval()
    const seen: number[] = []
    const change = async (): Promise<void> => void seen.push(removed.size)
    await removeUnused(change, [{ projectIds: [project], before: isoIn(0) }], NO_SIGNAL)
    expect(seen).toEqual([0])
    expect(removed.size).toBe(4_100)
    expect(await waiting()).toEqual([])
  })

  it('are removed six hours later where they were sent later than the time of their project', async () => {
    const [project, without] = [server.newProject(), server.newProject()]
    await writeFiles(project, 1)
    const { removed, jobQueue, removeUnused } = openRemoval()
    const projects = [{ projectIds: [project, without], before: isoIn(-120_000), youngerLater: true }]
    await removeUnused(async () => {}, projects, NO_SIGNAL)
    expect(removed.size).toBe(0)
    const [job, ...others] = await waiting()
    expect(others).toEqual([])
    expect(Date.parse(job?.run_at ?? '')).toBeGreaterThan(Date.now() + 6 * 3_600_000 - 60_000)
    await runWaiting(jobQueue, () => expect.poll(() => removed.size).toBe(1))
  })

  it('are removed an hour later where the change failed', async () => {
    const project = server.newProject()
    await writeFiles(project, 1)
    const { removed, jobQueue, removeUnused } = openRemoval()
    const change = () => Promise.reject(new Error('a full disk'))
    const projects = [{ projectIds: [project], before: isoIn(0) }]
    await expect(removeUnused(change, projects, NO_SIGNAL)).rejects.toThrow('a full disk')
    const [job] = await waiting()
    expect(Date.parse(job?.run_at ?? '')).toBeGreaterThan(Date.now() + 3_500_000)
    await runWaiting(jobQueue, () => expect.poll(() => removed.size).toBe(1))
  })
})
