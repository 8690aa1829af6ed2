import type { MonitorState } from '../../api/monitors.ts'
import type { StoredObject } from '../../api/objects.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount } from '../../components/format.ts'
import { MonitorStatus } from '../../components/monitor-status.tsx'
import { Badge, Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'

/** An object by its newest version. */
export interface ObjectRow {
  id: string
  name: string
  /** `Op`, or the class that the client gave it. */
  className: string
  isDataset: boolean
  isLeaderboard: boolean
  versions: number
  labels: string[]
  changedAt: string
  /** Of a monitor, once it is known. */
  monitor: MonitorState | undefined
}

export function objectRow(object: StoredObject, monitor: MonitorState | undefined): ObjectRow {
  const { object_id, kind, base_object_class, leaf_object_class, version_index, created_at } = object
  return {
    id: object_id,
    name: object_id,
    className: kind === 'op' ? 'Op' : (leaf_object_class ?? 'Object'),
    isDataset: base_object_class === 'Dataset',
    isLeaderboard: base_object_class === 'Leaderboard',
    versions: version_index + 1,
    labels: [...(object.tags ?? []), ...(object.aliases ?? [])].filter((label) => label !== 'latest'),
    changedAt: created_at,
    monitor,
  }
}

const NAME: TableColumn<ObjectRow> = {
  id: 'name',
  title: 'Name',
  width: 260,
  grows: true,
  isName: true,
  cell: (row) => <span className="text-strong">{row.name}</span>,
}

const COLUMNS: readonly TableColumn<ObjectRow>[] = [
  { id: 'class', title: 'Class', width: 160, cell: (row) => row.className },
  { id: 'versions', title: 'Versions', width: 96, align: 'end', cell: (row) => formatCount(row.versions) },
  {
    id: 'labels',
    title: 'Labels',
    width: 200,
    cell: (row) => (
      <span className="flex h-7 items-center gap-1">
        {row.labels.map((label) => (
          <Badge key={label}>{label}</Badge>
        ))}
      </span>
    ),
  },
  timeColumn({ id: 'changed', title: 'Newest version', at: (row) => row.changedAt }),
]

export const OBJECT_COLUMNS: readonly TableColumn<ObjectRow>[] = [NAME, ...COLUMNS]

/** With whether each monitor runs, why not, and what it has scored. */
export const MONITOR_COLUMNS: readonly TableColumn<ObjectRow>[] = [
  NAME,
  { id: 'state', title: 'State', width: 320, grows: true, cell: (row) => <State monitor={row.monitor} /> },
  { id: 'scored', title: 'Scored', width: 80, align: 'end', cell: (row) => formatCount(row.monitor?.scored) },
  { id: 'failed', title: 'Failed', width: 80, align: 'end', cell: (row) => formatCount(row.monitor?.failed) },
  {
    id: 'waiting',
    title: 'Waiting',
    width: 80,
    align: 'end',
    cell: (row) => formatCount(row.monitor?.waiting),
  },
  timeColumn({ id: 'last run', title: 'Last run', at: (row) => row.monitor?.last_run_at }),
  ...COLUMNS,
]

function State({ monitor }: { monitor: MonitorState | undefined }) {
  if (monitor === undefined) return null
  const [problem] = monitor.is_active ? monitor.problems : []
  if (problem === undefined) return <MonitorStatus monitor={monitor} />
  return (
    <span className="flex items-center gap-1.5" title={monitor.problems.join('\n')}>
      <Status kind="error" word="does not work" show="dot" />
      <span className="truncate text-error">{problem}</span>
    </span>
  )
}

/** Two lines of an object, on a phone. */
export function NarrowObject({ row }: { row: ObjectRow }) {
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-strong">{row.name}</span>
      <span className="block truncate text-xs text-muted">
        {row.className} · {row.versions} {row.versions === 1 ? 'version' : 'versions'} ·{' '}
        <Time iso={row.changedAt} />
      </span>
    </span>
  )
}
