import { placeOf } from '../../access.ts'
import { newId } from '../../ids.ts'
import type { JobsOfKind } from '../../jobs/jobs-of-kind.ts'
import type { Log } from '../../log.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { isoIn, nowIso } from '../../time.ts'
import { WRITE_MS_MAX } from '../write-ms-max.ts'
import * as queries from './queries.ts'

/** The project whose calls a job looks at. */
export interface NotedProject {
  project_id: string
}

/**
 * Calls that monitors still have to examine, noted just before their end is written; one job per project examines them.
 */
export interface NotedCalls {
  /** Notes calls whose end is about to be written; resolves with a function to be called after the write. */
  note(calls: readonly { project_id: string; call_id: string }[]): Promise<() => void>
  /** Some of the calls of a project whose end has been written, no more than `max`, oldest first. */
  written(project_id: string, max: number): Promise<queries.MonitoredCall[]>
  /**
   * Schedules another job for a project that has calls left: behind those of others, or later where all ends are still
   * being written.
   */
  lookAgain(project_id: string): Promise<void>
  /** Marks writes of earlier servers, none of which runs any more, as ended. */
  endPendingWrites(): Promise<void>
}

/** Calls examined together. */
const CALLS_PER_PASS = 500

export function createNotedCalls(deps: {
  control: ControlDb
  log: Log
  jobs: () => Pick<JobsOfKind<NotedProject>, 'addOnceIn' | 'wake'>
}): NotedCalls {
  const { control, log, jobs } = deps
  let ended: { id: string; projects: string[] }[] = []
  let isRecording = false

  async function addJobs(tx: ControlTx, projects: readonly string[], runAt: string): Promise<void> {
    for (const project_id of projects)
      await jobs().addOnceIn(tx, {
        id: newId(),
        payload: { project_id },
        singletonKey: project_id,
        group: project_id,
        entity: placeOf(project_id).entity,
        runAt,
      })
  }

  /** One commit for all writes that end while another commit is in progress. */
  async function recordEnds(): Promise<void> {
    while (ended.length > 0) {
      const writes = ended
      ended = []
      const ids = writes.map(({ id }) => id)
      const projects = [...new Set(writes.flatMap((write) => write.projects))]
      await control.transaction().execute(async (tx) => {
        await queries.endWrites(tx, ids)
        await addJobs(tx, projects, isoIn(0))
      })
      jobs().wake()
    }
  }

  function recordEnd(write: { id: string; projects: string[] }): void {
    ended.push(write)
    if (isRecording) return
    isRecording = true
    recordEnds()
      // The job that was added with the note examines these calls later.
      .catch((error: unknown) => log.error({ err: error }, 'calls are shown to monitors later'))
      .finally(() => {
        isRecording = false
      })
  }

  function written(project_id: string, max: number): Promise<queries.MonitoredCall[]> {
    const limit = Math.min(max, CALLS_PER_PASS)
    return queries.writtenCalls(control, { project_id, before: isoIn(-WRITE_MS_MAX), limit })
  }

  return {
    async note(calls) {
      const id = newId()
      const noted_at = nowIso()
      const projects = [...new Set(calls.map(({ project_id }) => project_id))]
      const rows = calls.map((call) => ({ ...call, noted_at, pending_write: id }))
      await control.transaction().execute(async (tx) => {
        await queries.noteCalls(tx, rows)
        await addJobs(tx, projects, isoIn(WRITE_MS_MAX))
      })
      return () => recordEnd({ id, projects })
    },

    written,

    // A call that is noted meanwhile adds a job of its own, since the one that runs has given up its singleton key.
    async lookAgain(project_id) {
      const hasWritten = (await written(project_id, 1)).length > 0
      if (!hasWritten && !(await queries.hasPending(control, project_id))) return
      const runAt = isoIn(hasWritten ? 0 : WRITE_MS_MAX)
      await control.transaction().execute((tx) => addJobs(tx, [project_id], runAt))
    },

    async endPendingWrites() {
      await control.transaction().execute(async (tx) => {
        const projects = await queries.endAllWrites(tx)
        await addJobs(tx, projects, isoIn(0))
      })
    },
  }
}
