import type { Projects } from '../../accounts/projects.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { findRun, findRunById, insertRun, type RunName, type RunRow, updateRun } from './queries.ts'
import { isInProgress, STARTED_AGAIN } from './run-row.ts'

/** Wire: names of runs end up in URLs and paths; the hosted service allows as many characters. */
const NAME_CHARS_MAX = 128

/** Members of a run; absent ones stay unchanged. */
export type RunChange = Partial<
  Pick<
    RunRow,
    | 'display_name'
    | 'description'
    | 'notes'
    | 'group_name'
    | 'job_type'
    | 'host'
    | 'program'
    | 'commit_hash'
    | 'config'
    | 'summary'
    | 'tags'
    | 'state'
  >
>

/** Creates and changes runs. */
export interface RunWriter {
  /**
   * Creates, resumes or updates a run. A run of that name that has ended or crashed, or whose program says that it
   * starts, runs again, as if it had neither ended nor been asked to. @throws 400 for a bad name.
   */
  start(name: RunName, change: RunChange, created_by: string): Promise<{ row: RunRow; inserted: boolean }>
  /** Changes a run without starting it. @throws 404. */
  change(id: string, change: RunChange): Promise<RunRow>
}

export function createRunWriter({
  control,
  projects,
}: {
  control: ControlDb
  projects: Projects
}): RunWriter {
  async function start(
    name: RunName,
    change: RunChange,
    created_by: string,
  ): Promise<{ row: RunRow; inserted: boolean }> {
    if (name.run === '' || name.run.length > NAME_CHARS_MAX || /[/\\#?%:]/.test(name.run)) {
      throw invalidRequest(`The id of a run has 1 to ${NAME_CHARS_MAX} characters, none of them /\\#?%:`)
    }
    await projects.ensureById(`${name.entity}/${name.project}`)
    const fresh = { ...newRun(name, created_by), ...change }
    return control.transaction().execute(async (tx) => {
      const known = await findRun(tx, name)
      if (known === undefined) {
        await insertRun(tx, fresh)
        return { row: fresh, inserted: true }
      }
      const resumed = {
        heartbeat_at: fresh.heartbeat_at,
        ...(startsAgain(known, change) && { state: fresh.state, ...STARTED_AGAIN }),
      }
      await updateRun(tx, known.id, { ...resumed, ...change })
      return { row: { ...known, ...resumed, ...change }, inserted: false }
    })
  }

  async function change(id: string, change: RunChange): Promise<RunRow> {
    const known = await findRunById(control, id)
    if (known === undefined) throw notFound('run', id)
    if (Object.keys(change).length > 0) await updateRun(control, id, change)
    return { ...known, ...change }
  }

  return { start, change }
}

/**
 * Wire: clients update the config of a run in progress by its name too; those that start name their machine and
 * program.
 */
function startsAgain(known: RunRow, { host, program }: RunChange): boolean {
  return !isInProgress(known) || host !== undefined || program !== undefined
}

function newRun({ entity, project, run }: RunName, created_by: string): RunRow {
  const now = nowIso()
  return {
    id: newId(),
    entity,
    project,
    name: run,
    display_name: run,
    description: null,
    notes: null,
    group_name: null,
    job_type: null,
    tags: '[]',
    host: null,
    program: null,
    commit_hash: null,
    config: '{}',
    summary: '{}',
    state: 'running',
    exit_code: null,
    history_lines: 0,
    system_lines: 0,
    log_lines: 0,
    last_step: -1,
    created_by,
    created_at: now,
    heartbeat_at: now,
    ended_at: null,
    stop_requested_at: null,
  }
}
