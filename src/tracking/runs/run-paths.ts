/** A field of a run by which lists are filtered and ordered. */
export interface RunPath {
  /** Its place in what `match-runs.ts` makes of a run; names are separated by dots. */
  path: string
  isTime: boolean
}

/** Wire: the names of a run's columns, in all of the clients' spellings. */
const COLUMNS: Record<string, string> = {
  name: 'name',
  display_name: 'display_name',
  displayName: 'display_name',
  group: 'group_name',
  job_type: 'job_type',
  jobType: 'job_type',
  state: 'state',
  tags: 'tags',
  notes: 'notes',
  username: 'created_by',
  'user.username': 'created_by',
  created_at: 'created_at',
  createdAt: 'created_at',
  heartbeat_at: 'heartbeat_at',
  heartbeatAt: 'heartbeat_at',
}

const TIMES = ['created_at', 'heartbeat_at']

/** The columns that are JSON, and what clients call them. */
const JSON_COLUMNS = { config: 'config', summary_metrics: 'summary' } as const

/** What lists are filtered and ordered by, for messages. */
export const RUN_PATHS = [...Object.keys(COLUMNS), 'config.*', 'summary_metrics.*'].join(', ')

/**
 * The field of a name; undefined for one that runs do not have. Wire: `config.lr` and `config.lr.value` are the same.
 */
export function runPath(name: string): RunPath | undefined {
  if (Object.hasOwn(COLUMNS, name)) {
    const path = COLUMNS[name] ?? name
    return { path, isTime: TIMES.includes(path) }
  }
  const [head = '', key, ...rest] = name.split('.')
  if (!isJsonColumn(head) || !key) return undefined
  const within = head === 'config' && rest[0] === 'value' ? rest.slice(1) : rest
  return { path: [JSON_COLUMNS[head], key, ...within].join('.'), isTime: false }
}

function isJsonColumn(name: string): name is keyof typeof JSON_COLUMNS {
  return Object.hasOwn(JSON_COLUMNS, name)
}
