import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../../log.ts'
import { firstOf, rowsOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import { nowIso } from '../../../time.ts'
import { mayHaveColumn } from '../sql/leaf-column.ts'
import { type Chore, choresOf, droppable, type LeafState, readyPaths } from './chores.ts'
import type { ProjectSize } from './project-size.ts'
import * as queries from './queries.ts'

/** After this, what is known is read again while it still serves. */
const REFRESHED_MS = 10_000

/** After this, it serves no longer: much less than the time for which a column that was given up stays. */
const KNOWN_MS_MAX = 10 * 60_000

/** Between two looks at whether a column is filled. */
const POLL_MS = 500

/** A column that takes longer is looked at again when it is next asked for. */
const FILL_MS_MAX = 30 * 60_000

/** After work that failed, the next begins no sooner. */
const PAUSE_MS = 60_000

/** Leaf columns of the calls: which there are, and how they come and go with what is asked for. */
export interface LeafColumns {
  /**
   * Those of the paths that have a filled column. In a large project, others that can have one get it in the
   * background, so that the next queries find it. Never fails: without columns, reads take longer.
   */
  of(projectId: string, paths: readonly string[]): Promise<ReadonlySet<string>>
}

const NONE: ReadonlySet<string> = new Set()

interface Deps {
  traces: TraceDb
  projectSize: ProjectSize
  log: Pick<Log, 'warn'>
}

export function createLeafColumns({ traces, projectSize, log }: Deps): LeafColumns {
  let known: { state: LeafState; at: number } | undefined
  let reading: Promise<LeafState> | undefined
  let isWorking = false
  let pausedUntil = 0

  function readState(): Promise<LeafState> {
    reading ??= Promise.all([
      rowsOf(traces.query<queries.ColumnRow>(queries.selectColumns())),
      rowsOf(traces.query<queries.UseRow>(queries.selectUses())),
    ])
      .then(([columns, uses]) => {
        known = { state: { columns, uses }, at: performance.now() }
        return known.state
      })
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  async function currentState(): Promise<LeafState> {
    const age = known === undefined ? Number.POSITIVE_INFINITY : performance.now() - known.at
    if (known !== undefined && age < REFRESHED_MS) return known.state
    const fresh = readState()
    if (known === undefined || age >= KNOWN_MS_MAX) return fresh
    fresh.catch(warnUnknown)
    return known.state
  }

  function warnUnknown(error: unknown): void {
    log.warn({ err: error }, 'which leaf columns there are could not be read: calls are read without them')
  }

  /** Begins what is to be done, unless something is being done. */
  function tend(state: LeafState, projectId: string, asked: ReadonlySet<string>): void {
    if (isWorking || performance.now() < pausedUntil) return
    const chores = choresOf(state, projectId, asked)
    if (chores.length === 0 && droppable(state).length === 0) return
    isWorking = true
    work(chores, projectId)
      .catch((error: unknown) => {
        log.warn({ err: error }, 'a leaf column could not be changed: it is tried again when it is asked for')
        pausedUntil = performance.now() + PAUSE_MS
      })
      .finally(() => {
        isWorking = false
      })
  }

  async function work(chores: readonly Chore[], projectId: string): Promise<void> {
    for (const { kind, path } of chores) {
      const released = kind === 'release' ? 1 : 0
      const use: queries.LeafUse = { path, project_id: projectId, used_at: nowIso(), released }
      await traces.insert(queries.LEAF_USES, [use])
      if (kind === 'add') await add(path)
    }
    // Another server may have recorded a use meanwhile.
    const dropped = droppable(await readState())
    for (const name of dropped) await traces.command(queries.dropColumn(name))
    if (dropped.length > 0) await readState()
  }

  /** Resolves once the column is filled, or takes too long. */
  async function add(path: string): Promise<void> {
    await traces.command(queries.addColumn(path))
    const giveUpAt = performance.now() + FILL_MS_MAX
    while (performance.now() < giveUpAt) {
      if (readyPaths(await readState()).has(path)) return
      // A part that was being written meanwhile may lack the column after it was filled.
      const filling = await firstOf(traces.query<{ count: number }>(queries.selectFilling(path)))
      if (filling?.count === 0) await traces.command(queries.fillColumn(path))
      await delay(POLL_MS, undefined, { ref: false })
    }
  }

  return {
    async of(projectId, paths) {
      const asked = new Set(paths.filter(mayHaveColumn))
      if (asked.size === 0) return NONE
      try {
        if (!(await projectSize.isLarge(projectId))) return NONE
        const state = await currentState()
        tend(state, projectId, asked)
        return asked.intersection(readyPaths(state))
      } catch (error) {
        warnUnknown(error)
        return NONE
      }
    },
  }
}
