import type { ProjectActivity } from '../../api/project.ts'
import { SparkBars } from '../../components/bars.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount, formatShare, MISSING } from '../../components/format.ts'
import { Time } from '../../components/time.tsx'

export interface ProjectRow extends ProjectActivity {
  id: string
  calls: number
}

/** A project with what its row shows. */
export function projectRow(activity: ProjectActivity): ProjectRow {
  const calls = activity.calls_by_hour.reduce((sum, count) => sum + count, 0)
  return { ...activity, id: `${activity.entity}/${activity.project}`, calls }
}

/** What would be rounded to nothing. */
const SHARE_MIN = 0.001

/** A few failures among many are not shown as none. */
function failedShare(failed: number, calls: number): string {
  const share = Math.min(1, failed / calls)
  return share > 0 && share < SHARE_MIN ? `< ${formatShare(SHARE_MIN)}` : formatShare(share)
}

export const PROJECT_COLUMNS: readonly TableColumn<ProjectRow>[] = [
  {
    id: 'name',
    title: 'Project',
    width: 260,
    grows: true,
    isName: true,
    cell: ({ entity, project }) => (
      <span className="truncate">
        <span className="text-muted">{entity}/</span>
        <span className="text-strong">{project}</span>
      </span>
    ),
  },
  {
    id: 'activity',
    title: 'Last 24 hours',
    width: 128,
    cell: ({ calls, calls_by_hour }) => (
      <SparkBars values={calls_by_hour} label={`${calls} calls in the last 24 hours`} />
    ),
  },
  { id: 'calls', title: 'Calls', width: 84, align: 'end', cell: ({ calls }) => formatCount(calls) },
  {
    id: 'failed',
    title: 'Failed',
    width: 84,
    align: 'end',
    cell: ({ calls, failed }) => (
      <span className={failed > 0 ? 'text-error' : 'text-muted'}>
        {calls === 0 ? MISSING : failedShare(failed, calls)}
      </span>
    ),
  },
  timeColumn({ id: 'last', title: 'Last call', at: ({ last_call_at }) => last_call_at }),
  timeColumn({ id: 'created', title: 'Made', at: ({ created_at }) => created_at }),
]

/** Two lines of a project, on a phone. */
export function NarrowProject({ row }: { row: ProjectRow }) {
  return (
    <span className="flex min-w-0 flex-1 items-center gap-3">
      <span className="min-w-0 flex-1">
        <span className="block truncate text-strong">{row.id}</span>
        <span className="block text-xs text-muted">
          {formatCount(row.calls)} calls in 24 h · <Time iso={row.last_call_at} />
        </span>
      </span>
      <SparkBars values={row.calls_by_hour} label={`${row.calls} calls in the last 24 hours`} width={72} />
    </span>
  )
}
