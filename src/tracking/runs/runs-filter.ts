import { z } from 'zod'
import { invalidRequest } from '../../errors.ts'
import { checkListed } from '../listed-names.ts'
import type { RunsFilter } from './queries.ts'
import { silentSince } from './run-row.ts'

/** Wire: names of fields in filters, in both of the client's spellings. */
const COLUMNS = {
  name: 'name',
  display_name: 'display_name',
  displayName: 'display_name',
  group: 'group_name',
  job_type: 'job_type',
  jobType: 'job_type',
  state: 'state',
} as const

const Filters = z.record(z.string(), z.union([z.string(), z.object({ $in: z.array(z.string()) }).strict()]))

/**
 * Reads the filter of a listing, in MongoDB's query language.
 * @throws 400 for anything but equality and `$in` of the fields above, and for too many values.
 */
export function runsFilter(project: { entity: string; project: string }, text: string | null): RunsFilter {
  const parsed = Filters.safeParse(json(text))
  const names = Object.keys(COLUMNS).join(', ')
  if (!parsed.success)
    throw invalidRequest(`Runs can be filtered by equality and $in of ${names} only`, 'filters')
  const filter: RunsFilter = { ...project, fields: [], heartbeat: undefined }
  for (const [name, condition] of Object.entries(parsed.data)) {
    if (!isColumn(name)) throw invalidRequest(`Runs can be filtered by ${names}, not by ${name}`, 'filters')
    const values = typeof condition === 'string' ? [condition] : condition.$in
    checkListed(values)
    if (name === 'state') addState(filter, values)
    else filter.fields.push({ column: COLUMNS[name], values })
  }
  return filter
}

/** A crashed run is a running one that stopped sending; where both are selected, the time is not compared. */
function addState(filter: RunsFilter, values: string[]): void {
  const stored = new Set(values.map((value) => (value === 'crashed' ? 'running' : value)))
  filter.fields.push({ column: 'state', values: [...stored] })
  if (values.includes('crashed') === values.includes('running')) return
  if (stored.size > 1) throw invalidRequest('Filter runs by running or crashed alone', 'filters')
  filter.heartbeat = { is: values.includes('running') ? 'since' : 'before', time: silentSince() }
}

function isColumn(name: string): name is keyof typeof COLUMNS {
  return Object.hasOwn(COLUMNS, name)
}

function json(text: string | null): unknown {
  if (text === null || text === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
