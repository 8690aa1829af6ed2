import type { Query } from '../../stores/trace-db/port.ts'
import { LATENCY_MS } from '../calls/sql/derived.ts'
import { MERGED_CALLS, NEVER, VISIBLE } from '../calls/sql/table.ts'
import { type Page, pageSql } from '../query-language/page.ts'
import { createParams } from '../query-language/params.ts'

export interface ThreadsSelection {
  project_id: string
  thread_ids: readonly string[]
  /** ISO 8601 in UTC; calls that started exactly then do not count. */
  after: string | undefined
  before: string | undefined
}

export interface ThreadsPage extends Page {
  /** Columns of the result and directions, checked. */
  order: readonly string[]
}

/**
 * Threads by their turns, which are the calls whose turn id is their own. Wire: a thread without an ended turn is not
 * listed yet.
 */
export function selectThreads(selection: ThreadsSelection, page: ThreadsPage): Query {
  const params = createParams()
  const where = [
    `project_id = ${params.bindProject(selection.project_id)}`,
    VISIBLE,
    `thread_id != ''`,
    'turn_id = id',
  ]
  const { thread_ids, after, before } = selection
  if (thread_ids.length > 0) where.push(`thread_id IN ${params.bindTexts(thread_ids)}`)
  const time = (iso: string): string => `parseDateTime64BestEffort(${params.bind(iso, 'String')}, 6, 'UTC')`
  if (after !== undefined) where.push(`started_at > ${time(after)}`)
  if (before !== undefined) where.push(`started_at < ${time(before)}`)
  return {
    sql: `SELECT thread_id, count() AS turn_count, min(started_at) AS start_time, max(ended_at) AS last_updated,
        argMin(id, (started_at, id)) AS first_turn_id, argMax(id, (ended_at, id)) AS last_turn_id,
        quantile(0.5)(${LATENCY_MS}) AS p50_turn_duration_ms, quantile(0.99)(${LATENCY_MS}) AS p99_turn_duration_ms
      FROM ${MERGED_CALLS} WHERE ${where.join(' AND ')} GROUP BY thread_id HAVING last_updated != ${NEVER}
      ORDER BY ${page.order.join(', ')} ${pageSql(page, params)}`,
    params: params.values,
  }
}
