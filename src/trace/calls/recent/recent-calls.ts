import { setTimeout as delay } from 'node:timers/promises'
import { entityOf } from '../../../fairness/fair-queue.ts'
import type { Log } from '../../../log.ts'
import { firstOf, type TraceDb } from '../../../stores/trace-db/port.ts'
import type { KnownLists } from '../read/execute.ts'
import { type List, shownCalls } from '../read/list.ts'
import { addCall, createText } from '../render/call-text.ts'
import { callMembers } from '../render/members.ts'
import { isOfFamily } from '../sql/filter.ts'
import type { Selection } from '../sql/selection.ts'
import { CALL_ROWS, type CallRow } from '../sql/table.ts'
import { isVisible, type KeptCall, shownCall } from './kept-call.ts'
import { matcherOf } from './matches.ts'
import { type Bounds, beyond, createProjectTail, type ProjectTail } from './project-tail.ts'
import { selectBounds } from './queries.ts'
import { oldestFirst } from './start-order.ts'

/** Projects with calls in memory; beyond that, the one that was written to least recently is dropped. */
const PROJECTS_MAX = 256

/** Calls of a list that are sorted, and written as JSON, here at once; some hundredths of a second. */
const LIST_MAX = 1000

/**
 * What the first write to a project waits for its bounds: the query for them may wait for other reads of the project.
 */
const OPENING_MS_MAX = 5_000

/** A guess at the line of a call. */
const CALL_CHARS = 2048

const NOT_KEPT = 'the recent calls of a project are not kept in memory'

/**
 * The newest calls of the projects that are written to, in memory: planning a query takes the database longer than most
 * questions about them take here. No other process may write to the table.
 */
export interface RecentCalls extends KnownLists {
  /** How many calls are selected; undefined where only the database knows. */
  count(selection: Selection): number | undefined
  /** Inserts rows and keeps them in memory. @throws as `TraceDb.insert` */
  insert(rows: readonly CallRow[]): Promise<void>
  /** Drops the calls of projects from memory; those that are written next are kept again. */
  forget(projectIds: readonly string[]): void
}

interface Deps {
  traces: TraceDb
  log: Pick<Log, 'warn'>
  /** Memory for calls of all projects; 0 keeps none. */
  bytesMax: number
}

const NO_BOUNDS: Bounds = { id: '', traceId: '', startedAt: '' }

/** The bounds of a project are being read. */
interface Opening {
  opened: Promise<void>
  /** Bounds of rows that were written meanwhile. */
  missed: Bounds
}

export function createRecentCalls({ traces, log, bytesMax }: Deps): RecentCalls {
  /** In the order of their last writes. */
  const tails = new Map<string, ProjectTail>()
  const openings = new Map<string, Opening>()

  async function insert(rows: readonly CallRow[]): Promise<void> {
    const byProject = Map.groupBy(rows, (row) => row.project_id)
    await Promise.all([...byProject.keys()].map(untilOpen))
    const writes = [...byProject].map(([projectId, some]) => ({
      projectId,
      some,
      tail: tails.get(projectId),
    }))
    let isWritten = false
    try {
      await traces.insert(CALL_ROWS, rows)
      isWritten = true
    } finally {
      for (const { projectId, some, tail } of writes)
        if (isWritten && tail !== undefined && tail === tails.get(projectId)) keep(projectId, tail, some)
        else leaveToDatabase(projectId, some)
      makeRoom()
    }
  }

  async function untilOpen(projectId: string): Promise<void> {
    if (tails.has(projectId)) return
    const { opened } = openings.get(projectId) ?? open(projectId)
    await Promise.race([opened, delay(OPENING_MS_MAX, undefined, { ref: false })])
  }

  function open(projectId: string): Opening {
    const opened = firstOf(traces.query<Bounds>(selectBounds(projectId)))
      .then((stored = NO_BOUNDS) => {
        const { id, traceId, startedAt } = opening.missed
        const bounds = beyond(stored, { id, trace_id: traceId, started_at: startedAt })
        tails.set(projectId, createProjectTail(bounds))
      })
      .catch((error: unknown) => log.warn({ project: projectId, error }, NOT_KEPT))
      .finally(() => openings.delete(projectId))
    const opening: Opening = { opened, missed: NO_BOUNDS }
    openings.set(projectId, opening)
    return opening
  }

  function keep(projectId: string, tail: ProjectTail, rows: readonly CallRow[]): void {
    tail.written(rows)
    tails.delete(projectId)
    tails.set(projectId, tail)
  }

  /** Rows whose write failed or began before the tail: its bounds, or those that are being read, may not have them. */
  function leaveToDatabase(projectId: string, rows: readonly CallRow[]): void {
    tails.get(projectId)?.uncertain(rows)
    const opening = openings.get(projectId)
    if (opening !== undefined) opening.missed = rows.reduce(beyond, opening.missed)
  }

  function makeRoom(): void {
    for (const projectId of tails.keys()) {
      if (tails.size <= PROJECTS_MAX) break
      tails.delete(projectId)
    }
    const bytes = (): number => bytesOf(tails.values())
    while (bytes() > bytesMax) {
      // A flood evicts its own calls, from however many projects of an entity it comes.
      const entities = Map.groupBy(tails, ([projectId]) => entityOf(projectId)).values()
      const byEntity = entities.map((entries) => entries.map(([, tail]) => tail))
      const most = byEntity.reduce((one, other) => (bytesOf(other) > bytesOf(one) ? other : one))
      const largest = most.reduce((one, other) => (other.bytes() > one.bytes() ? other : one))
      const bytesLeft = Math.max(0, largest.bytes() - (bytes() - bytesMax))
      while (largest.bytes() > bytesLeft) largest.evictOldest()
    }
  }

  return {
    insert: bytesMax > 0 ? insert : (rows) => traces.insert(CALL_ROWS, rows),

    forget(projectIds) {
      for (const projectId of projectIds) tails.delete(projectId)
    },

    lines(list) {
      const tail = tails.get(list.selection.project_id)
      const calls = tail && callsOf(tail, list)
      return calls && linesOf(calls, list)
    },

    count(selection) {
      const tail = tails.get(selection.project_id)
      const found = tail && candidatesOf(tail, selection)
      if (found === undefined || !found.isWhole) return undefined
      return Iterator.from(found.calls).reduce((count) => count + 1, 0)
    },

    hasMost: (projectId) => tails.get(projectId)?.hasMost() === true,

    line(list, id) {
      const call = tails.get(list.selection.project_id)?.find(id)
      return call === undefined ? undefined : linesOf(visible(call), list)
    },
  }
}

function bytesOf(tails: Iterable<ProjectTail>): number {
  return Iterator.from(tails).reduce((sum, tail) => sum + tail.bytes(), 0)
}

/** Undefined where only the database knows them. */
function callsOf(tail: ProjectTail, { selection, page }: List): KeptCall[] | undefined {
  const direction = directionOf(page.sort_by)
  // One call is in any order.
  if (direction === undefined && selection.filter?.call_ids?.length !== 1) return undefined
  const found = candidatesOf(tail, selection)
  if (found === undefined || (direction !== 'desc' && !found.isWhole)) return undefined
  const end = page.limit === undefined ? Number.POSITIVE_INFINITY : page.offset + page.limit
  const selected = Iterator.from(found.calls)
  const calls = direction === 'desc' ? [...selected.take(end)] : [...selected].reverse()
  // With fewer, the next ones may be calls that are not in memory.
  return calls.length >= end || found.isWhole ? calls.slice(page.offset, end) : undefined
}

/** Calls in memory that a selection has. */
interface Candidates {
  /** Newest first. */
  calls: Iterable<KeptCall>
  /** Whether it has no others. */
  isWhole: boolean
}

/** Undefined where memory cannot tell, or would be searched in vain. */
function candidatesOf(tail: ProjectTail, selection: Selection): Candidates | undefined {
  const matcher = matcherOf(selection)
  if (matcher === undefined) return undefined
  const named = namedCalls(tail, selection.filter)
  if (named !== undefined) {
    const calls = named.filter(matcher.matches).sort(oldestFirst).reverse()
    return { calls, isWhole: true }
  }
  const isWhole = tail.hasAll(matcher.times)
  // Few calls match, so that all in memory would be searched in vain.
  if (isOfFamily(selection) && !isWhole) return undefined
  return { calls: Iterator.from(tail.newest()).filter(matcher.matches), isWhole }
}

/**
 * The visible calls among which a filter by an id, or by traces, selects; undefined for others, or where only the
 * database knows them.
 */
function namedCalls(tail: ProjectTail, filter: Selection['filter']): KeptCall[] | undefined {
  const [id, ...otherIds] = filter?.call_ids ?? []
  if (id !== undefined && otherIds.length === 0) {
    const call = tail.find(id)
    return call === undefined ? undefined : visible(call)
  }
  return filter?.trace_ids?.length ? ofTraces(tail, filter.trace_ids) : undefined
}

/** Undefined where only the database knows them, or where there are so many that sorting them takes long. */
function ofTraces(tail: ProjectTail, traceIds: readonly string[]): KeptCall[] | undefined {
  const all: KeptCall[] = []
  for (const traceId of new Set(traceIds)) {
    const calls = tail.ofTrace(traceId)
    if (calls === undefined) return undefined
    for (const call of calls) if (all.push(call) > LIST_MAX) return undefined
  }
  return all
}

function visible(call: KeptCall | null): KeptCall[] {
  return call !== null && isVisible(call) ? [call] : []
}

/** Of a list by start time alone. */
function directionOf([first, second, ...others]: List['page']['sort_by']): 'asc' | 'desc' | undefined {
  const isByStart = first?.field === 'started_at' && second?.field === 'id' && others.length === 0
  return isByStart && first.direction === second.direction ? first.direction : undefined
}

/** Undefined where only the database knows what the list shows of them. */
function linesOf(calls: readonly KeptCall[], list: List): Buffer | undefined {
  const shown = shownCalls(list)
  if (calls.length > LIST_MAX) return undefined
  if (shown.storageSize === 'with' || shown.totalStorageSize === 'with') return undefined
  const members = callMembers(shown)
  const { project_id } = list.selection
  const text = createText(calls.length * CALL_CHARS)
  for (const call of calls) {
    const whole = shownCall(call, project_id, shown)
    if (whole === undefined) return undefined
    addCall(text, whole, members)
  }
  return text.written()
}
