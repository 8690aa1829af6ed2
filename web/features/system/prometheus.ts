/** One line of `/metrics`. */
export interface Sample {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Parses the Prometheus format; invalid lines are left out. */
export function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, key = '', text = '']) => [
      key,
      text.replaceAll(/\\(.)/g, '$1'),
    ])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

/** Rows of the trace database from the first word of the server on. */
export interface Writes {
  table: string
  accepted: number
  applied: number
  pending: number
  rejected: number
}

const KINDS = ['accepted', 'applied', 'pending', 'rejected'] as const

/** The outcome of every row, by table; the largest first. */
export function writesOf(samples: readonly Sample[]): Writes[] {
  const tables = new Map<string, Writes>()
  for (const { name, labels, value } of samples) {
    const kind = KINDS.find(
      (known) => name === `heddle_writes_${known}${known === 'pending' ? '' : '_total'}`,
    )
    const table = labels['table']
    if (kind === undefined || table === undefined) continue
    const writes = tables.get(table) ?? { table, accepted: 0, applied: 0, pending: 0, rejected: 0 }
    tables.set(table, { ...writes, [kind]: value })
  }
  return [...tables.values()].sort((a, b) => b.accepted - a.accepted)
}

/** Of all tables. */
export function totalOf(writes: readonly Writes[]): Writes {
  const sum = (kind: (typeof KINDS)[number]) => writes.reduce((total, row) => total + row[kind], 0)
  return {
    table: 'all',
    accepted: sum('accepted'),
    applied: sum('applied'),
    pending: sum('pending'),
    rejected: sum('rejected'),
  }
}

/** Requests of one operation. */
export interface Requests {
  operation: string
  count: number
  failed: number
  /** Mean, in milliseconds. */
  meanMs: number
}

const DURATION = 'heddle_http_request_duration_seconds'

/** Requests to the server by operation, the most frequent first. */
export function requestsOf(samples: readonly Sample[]): Requests[] {
  const operations = new Map<string, { count: number; failed: number; seconds: number }>()
  for (const { name, labels, value } of samples) {
    const operation = labels['operation']
    if (operation === undefined || !name.startsWith(DURATION)) continue
    const entry = operations.get(operation) ?? { count: 0, failed: 0, seconds: 0 }
    operations.set(operation, entry)
    if (name === `${DURATION}_sum`) entry.seconds += value
    if (name !== `${DURATION}_count`) continue
    entry.count += value
    if (labels['status'] === '5xx') entry.failed += value
  }
  return [...operations]
    .map(([operation, { count, failed, seconds }]) => ({
      operation,
      count,
      failed,
      meanMs: count === 0 ? 0 : (seconds / count) * 1000,
    }))
    .sort((a, b) => b.count - a.count)
}

/** The value of a metric without labels. */
export function metricValue(samples: readonly Sample[], name: string): number | undefined {
  return samples.find((sample) => sample.name === name)?.value
}
