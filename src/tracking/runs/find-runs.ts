import { z } from 'zod'
import { invalidRequest, tooLarge } from '../../errors.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { createLimitedWork } from '../../threads/limited-work.ts'
import type { MatchJob, matchRuns, RunOrderKey } from './match-runs.ts'
import { countRuns, listRuns, type RunRow, runsById } from './queries.ts'
import { stateOf } from './run-row.ts'
import { type RunsFilter, runsFilter } from './runs-filter.ts'
import type { RunsOrder } from './runs-order.ts'
import { scanRuns } from './scan-queries.ts'

/** Runs that one request goes through: some ten seconds of work where each has a config of 2 kB. */
const SCANNED_MAX = 100_000

/** Runs of a project; the filter is the client's text. */
export interface RunsWanted {
  entity: string
  project: string
  filters: string | null
}

export interface RunsPage extends RunsWanted {
  order: RunsOrder
  /** The cursor of the run before the page. */
  after: string | undefined
  limit: number
}

/** A run of a page, with the cursor after which the next page begins. */
export interface FoundRun {
  row: RunRow
  cursor: string
}

/** Lists of runs by filter and order. */
export interface FindRuns {
  /**
   * A page of a project's runs.
   * @throws 400 for a filter or order that is not supported, 413 for too much text or too many runs.
   */
  page(req: RunsPage): Promise<FoundRun[]>
  /** @throws as `page` */
  count(req: RunsWanted): Promise<number>
}

interface Match {
  id: string
  key: RunOrderKey
}

/** A cursor of an order by values. */
const Cursor = z.tuple([z.union([z.number(), z.string(), z.null()]), z.string()])

const match = createLimitedWork<MatchJob, ReturnType<typeof matchRuns>>({
  program: new URL('./match-runs-worker.ts', import.meta.url),
  does: 'filter runs',
  // A step takes a fifth of a second, but for expressions that backtrack without end.
  msMax: 2_000,
  memoryMbMax: 512,
})

/** Filters are applied to runs in threads: configs are long, and expressions are the clients' own. */
export function createFindRuns({ control }: { control: ControlDb }): FindRuns {
  /** The runs for which a filter holds, by when they were made. */
  async function* matches(
    { entity, project }: RunsWanted,
    filter: RunsFilter | undefined,
    range: { order: 'asc' | 'desc'; after: string | undefined; orderBy?: string | undefined },
  ): AsyncGenerator<Match> {
    const { order, after, orderBy } = range
    const criteria = filter?.criteria ?? {}
    const named = JSON.stringify([criteria, orderBy])
    const texts = (['config', 'summary'] as const).filter((text) => named.includes(`"${text}.`))
    let scanned = 0
    const scan = { entity, project, conditions: filter?.narrowed ?? [], order, after, texts }
    for await (const rows of scanRuns(control, scan)) {
      scanned += rows.length
      if (scanned > SCANNED_MAX)
        throw tooLarge(
          `More than ${SCANNED_MAX} runs would be read: narrow the filter by name, group, job_type or created_at`,
        )
      const runs = rows.map((row) => ({ ...row, state: stateOf(row) }))
      yield* await match(`${entity}/${project}`, { runs, criteria, orderBy })
    }
  }

  async function rowsOf(found: readonly (Match & { cursor: string })[]): Promise<FoundRun[]> {
    const rows = await runsById(
      control,
      found.map(({ id }) => id),
    )
    const byId = new Map(rows.map((row) => [row.id, row]))
    return found.flatMap(({ id, cursor }) => {
      const row = byId.get(id)
      return row === undefined ? [] : [{ row, cursor }]
    })
  }

  async function page(req: RunsPage): Promise<FoundRun[]> {
    const filter = runsFilter(req.filters)
    const { orderBy, direction: order } = req.order
    if (orderBy !== undefined) return pageByValue(req, filter, orderBy)
    const { after, limit } = req
    if (filter === undefined) {
      const rows = await listRuns(control, req, { after, limit, order })
      return rows.map((row) => ({ row, cursor: row.id }))
    }
    const found: (Match & { cursor: string })[] = []
    for await (const one of matches(req, filter, { order, after })) {
      if (found.length === limit) break
      found.push({ ...one, cursor: one.id })
    }
    return rowsOf(found)
  }

  async function pageByValue(
    req: RunsPage,
    filter: RunsFilter | undefined,
    orderBy: string,
  ): Promise<FoundRun[]> {
    const all: Match[] = []
    for await (const one of matches(req, filter, { order: 'asc', after: undefined, orderBy })) all.push(one)
    const sign = req.order.direction === 'asc' ? 1 : -1
    const before = req.after === undefined ? undefined : matchOf(req.after)
    const following = before === undefined ? all : all.filter((one) => compare(one, before, sign) > 0)
    const found = following.sort((a, b) => compare(a, b, sign)).slice(0, req.limit)
    return rowsOf(found.map((one) => ({ ...one, cursor: JSON.stringify([one.key, one.id]) })))
  }

  async function count(req: RunsWanted): Promise<number> {
    const filter = runsFilter(req.filters)
    if (filter === undefined) return countRuns(control, req)
    let found = 0
    for await (const _ of matches(req, filter, { order: 'asc', after: undefined })) found += 1
    return found
  }

  return { page, count }
}

/**
 * Numbers, then texts, each by the direction of the order; then runs without a value, and runs of the same value by
 * when they were made.
 */
function compare(a: Match, b: Match, sign: 1 | -1): number {
  return (
    rank(a.key) - rank(b.key) || sign * compareKeys(a.key, b.key) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  )
}

function rank(key: RunOrderKey): number {
  return key === null ? 2 : typeof key === 'string' ? 1 : 0
}

function compareKeys(a: RunOrderKey, b: RunOrderKey): number {
  if (a === null || b === null || a === b) return 0
  return a < b ? -1 : 1
}

/** @throws 400 for what is no cursor of an order by values */
function matchOf(cursor: string): Match {
  try {
    const [key, id] = Cursor.parse(JSON.parse(cursor))
    return { key, id }
  } catch {
    throw invalidRequest('The cursor is of another order', 'after')
  }
}
