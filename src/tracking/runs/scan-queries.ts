import { sql } from 'kysely'
import type { ControlTx } from '../../stores/control-db/port.ts'
import type { RunRow } from './queries.ts'

/** Runs of one step of a scan. */
const STEP_ROWS_MAX = 1_000

/** Bytes of the configs and summaries of one step of a scan: a thread parses them in a fifth of a second. */
const STEP_BYTES_MAX = 8 * 1024 * 1024

/** What a column of all found runs must be. */
export type RunsCondition =
  | { column: 'name' | 'display_name' | 'group_name' | 'job_type'; values: string[] }
  | { column: 'created_at'; is: '>' | '>=' | '<' | '<='; time: string }

const SCANNED_COLUMNS = [
  'id',
  'name',
  'display_name',
  'group_name',
  'job_type',
  'tags',
  'notes',
  'state',
  'created_by',
  'created_at',
  'heartbeat_at',
] as const

/** A run of a scan, with the texts that were asked for. */
export type ScannedRun = Pick<RunRow, (typeof SCANNED_COLUMNS)[number]> &
  Partial<Pick<RunRow, 'config' | 'summary'>>

/** Runs to go through. */
export interface RunScan {
  entity: string
  project: string
  conditions: readonly RunsCondition[]
  order: 'asc' | 'desc'
  /** The run after which it begins. */
  after: string | undefined
  texts: readonly ('config' | 'summary')[]
}

/** Runs of a project in the order of their ids, in steps of a limited size. */
export async function* scanRuns(db: ControlTx, scan: RunScan): AsyncGenerator<ScannedRun[]> {
  for (let after = scan.after; ; ) {
    const sizes = await sizesAfter(db, scan, after)
    if (sizes.length === 0) return
    const ids = idsOfStep(sizes)
    after = ids.at(-1)
    const columns = [...SCANNED_COLUMNS, ...scan.texts]
    const step = db.selectFrom('runs').select(columns).where('id', 'in', ids)
    yield await step.orderBy('id', scan.order).execute()
  }
}

/** The next runs, with the bytes of their texts. */
function sizesAfter(db: ControlTx, scan: RunScan, after: string | undefined) {
  const { entity, project, conditions, order } = scan
  let query = db
    .selectFrom('runs')
    .select(['id', sql<number>`octet_length(config) + octet_length(summary)`.as('bytes')])
    .where('entity', '=', entity)
    .where('project', '=', project)
  for (const condition of conditions)
    query =
      'time' in condition
        ? query.where(condition.column, condition.is, condition.time)
        : query.where(condition.column, 'in', condition.values.length === 0 ? [''] : condition.values)
  if (after !== undefined) query = query.where('id', order === 'asc' ? '>' : '<', after)
  return query.orderBy('id', order).limit(STEP_ROWS_MAX).execute()
}

/** The ids of the longest prefix whose total size is within the limit, and at least one id. */
function idsOfStep(sizes: readonly { id: string; bytes: number }[]): string[] {
  let bytes = 0
  const end = sizes.findIndex((run, at) => {
    bytes += run.bytes
    return at > 0 && bytes > STEP_BYTES_MAX
  })
  return sizes.slice(0, end === -1 ? sizes.length : end).map(({ id }) => id)
}
