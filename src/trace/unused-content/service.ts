import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { entityOf } from '../../fairness/fair-queue.ts'
import { newId } from '../../ids.ts'
import type { JobQueue } from '../../jobs/job-queue.ts'
import type { Log } from '../../log.ts'
import type { Cutoff } from '../../removal.ts'
import { slicesOf } from '../../slices.ts'
import { firstOf, rowsOf, type TraceDb } from '../../stores/trace-db/port.ts'
import { isoIn } from '../../time.ts'
import {
  CANDIDATES_MAX,
  type ContentTable,
  type Sent,
  selectAny,
  selectCandidates,
  selectNamed,
} from './queries.ts'

/** ClickHouse searches for at most 255 texts at once. */
const SEARCHED_AT_ONCE = 200

/**
 * Clients send files and tables before what names them: a call follows within seconds, or when its machine is online
 * again.
 */
const NAMED_WITHIN_MS = 6 * 3_600_000

/** A time before which contents were sent that are named by now, where anything names them. */
export const namedByNow = (): string => isoIn(-NAMED_WITHIN_MS)

/** A search that failed, or before which the server ended, is made an hour later, and every hour of a day. */
const RETRY_MS = 3_600_000
const ATTEMPTS_MAX = 24

const Search = z.object({ project_id: z.string(), before: z.string() })
type Search = z.output<typeof Search>

/** Removes contents of one kind by their digests, those alone that were sent before a time. */
export type RemoveContents = (
  projectId: string,
  digests: readonly string[],
  before: string,
  signal: AbortSignal,
) => Promise<void>

/** Where contents are looked for, and before which time they were sent. */
export interface UnusedIn extends Cutoff {
  /**
   * Whether the change may remove what names contents that were sent later: these are looked for six hours from now.
   */
  youngerLater?: boolean
}

/**
 * Makes a change that removes calls or objects, and then removes the files and tables of their projects that nothing
 * names any more. What was sent after the time of its project stays, since what names it may not have come yet. A
 * project through which it cannot look, since it is too large for the time of a query or the server ends, is looked
 * through later, as a job that is stored before the change.
 * @throws as the change does
 */
export type RemoveUnused = (
  change: () => Promise<void>,
  projects: readonly UnusedIn[],
  signal: AbortSignal,
) => Promise<void>

export function createRemoveUnused(deps: {
  traces: TraceDb
  jobQueue: JobQueue
  log: Pick<Log, 'warn'>
  removers: Record<ContentTable, RemoveContents>
}): RemoveUnused {
  const { traces, jobQueue, log, removers } = deps

  const jobs = jobQueue.define<Search>({
    kind: 'unused_content',
    payload: Search,
    concurrency: 1,
    attemptsMax: ATTEMPTS_MAX,
    keeps: 'failures',
    retryMs: () => RETRY_MS,
    handle: ({ payload }, { signal }) => search(payload, signal),
    giveUp: async ({ payload: { project_id } }, { reason }) =>
      log.warn({ project: project_id, reason }, 'unused files stay, since they could not be looked for'),
  })

  async function unnamed(projectId: string, digests: readonly string[]): Promise<string[]> {
    const found = new Set(digests)
    for (const some of slicesOf(digests, SEARCHED_AT_ONCE)) {
      const query = selectNamed(projectId, some)
      for (const { digest } of await rowsOf(traces.query<{ digest: string }>(query))) found.delete(digest)
    }
    return [...found]
  }

  async function isAny(table: ContentTable, projectId: string, sent: Sent): Promise<boolean> {
    return (await firstOf(traces.query<{ found: number }>(selectAny(table, projectId, sent)))) !== undefined
  }

  async function removeFrom(table: ContentTable, wanted: Search, signal: AbortSignal): Promise<void> {
    const { project_id, before } = wanted
    // Otherwise all texts of the project would be searched for nothing.
    if (!(await isAny(table, project_id, { before }))) return
    for (let after = ''; ; ) {
      signal.throwIfAborted()
      const query = selectCandidates(table, project_id, { before, after })
      const digests = (await rowsOf(traces.query<{ digest: string }>(query))).map(({ digest }) => digest)
      const unused = await unnamed(project_id, digests)
      if (unused.length > 0) await removers[table](project_id, unused, before, signal)
      if (digests.length < CANDIDATES_MAX) return
      after = digests.at(-1) ?? ''
    }
  }

  async function search(wanted: Search, signal: AbortSignal): Promise<void> {
    // Rows of tables name files.
    await removeFrom('tables', wanted, signal)
    await removeFrom('files', wanted, signal)
  }

  /** Whether a project has contents that were sent since a time. */
  async function hasSince(projectId: string, after: string): Promise<boolean> {
    return (await isAny('tables', projectId, { after })) || (await isAny('files', projectId, { after }))
  }

  /** Looks for what is younger than the times of the projects, where there is any. */
  async function laterLooks(projects: readonly UnusedIn[]): Promise<Search[]> {
    const before = isoIn(0)
    const searches: Search[] = []
    for (const { projectIds, before: since } of projects.filter(({ youngerLater }) => youngerLater))
      for (const project_id of projectIds)
        if (await hasSince(project_id, since)) searches.push({ project_id, before })
    return searches
  }

  const jobOf = (payload: Search, runAt: string) => ({
    id: newId(),
    payload,
    entity: entityOf(payload.project_id),
    runAt,
  })

  return async (change, projects, signal) => {
    const searches = projects
      .flatMap(({ projectIds, before }) => projectIds.map((project_id) => ({ project_id, before })))
      .map((payload) => jobOf(payload, isoIn(RETRY_MS)))
    const later = (await laterLooks(projects)).map((payload) => jobOf(payload, isoIn(NAMED_WITHIN_MS)))
    await jobs.add([...searches, ...later])
    await change()
    for (const { id, payload } of searches) {
      signal.throwIfAborted()
      try {
        await search(payload, signal)
        await jobs.removeWaiting([id])
      } catch (error) {
        if (signal.aborted) throw error
        const reason = messageOf(error)
        log.warn({ project: payload.project_id, reason }, 'unused files will be looked for again in an hour')
      }
    }
  }
}
