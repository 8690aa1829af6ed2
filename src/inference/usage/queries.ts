import type { Caller } from '../../http/caller.ts'
import type { Query } from '../../stores/trace-db/port.ts'

export const USAGE_TABLE = 'completion_usage'

export interface UsageFilter {
  entity?: string | undefined
  project?: string | undefined
  model?: string | undefined
  key?: string | undefined
  /** ISO 8601. */
  from: string
  before: string
  seenBy: Pick<Caller, 'keyId' | 'rights'>
}

/** Columns that a filter may fix. */
const FIXED = ['entity', 'project', 'model', 'key'] as const

/** Sums grouped by `columns`, which are column names of this module's callers and never a client's text. */
export function selectUsage(filter: UsageFilter, columns: readonly string[]): Query {
  const fixed = FIXED.filter((column) => filter[column] !== undefined)
  const seen = seenBy(filter.seenBy)
  const conditions = [
    'hour >= parseDateTimeBestEffort({from:String})',
    'hour < parseDateTimeBestEffort({before:String})',
    ...fixed.map((column) => `${column} = {${column}:String}`),
    ...seen.conditions,
  ]
  const params = { ...Object.fromEntries(fixed.map((column) => [column, filter[column]])), ...seen.params }
  return {
    sql: `SELECT ${columns.join(', ')}, sum(requests) AS requests, sum(requests_cut) AS requests_cut,
        sum(prompt_tokens) AS prompt_tokens, sum(cached_tokens) AS cached_tokens,
        sum(completion_tokens) AS completion_tokens, sum(reasoning_tokens) AS reasoning_tokens
      FROM ${USAGE_TABLE} WHERE ${conditions.join(' AND ')}
      GROUP BY ${columns.join(', ')} ORDER BY ${columns.join(', ')}`,
    params: { from: filter.from, before: filter.before, ...params },
  }
}

/** Usage of a caller's entities, or of its one project, and what its own key used without a project. */
function seenBy({ keyId, rights }: Pick<Caller, 'keyId' | 'rights'>) {
  const { entities, project } = rights
  if (entities === 'all') return { conditions: [], params: {} }
  const readable = entities.filter((entity) => rights.allows('read', { entity, project }))
  const within = project === undefined ? '' : ' AND project = {own_project:String}'
  return {
    conditions: [`(entity IN {own_entities:Array(String)}${within} OR key = {own_key:String})`],
    params: {
      own_entities: readable,
      own_key: keyId,
      ...(project !== undefined && { own_project: project }),
    },
  }
}
