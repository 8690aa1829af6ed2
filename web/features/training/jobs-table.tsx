import type { Job, Model } from '../../api/training.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount, formatDuration, MISSING } from '../../components/format.ts'
import { EmptyState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { JobState } from './job-state.tsx'
import { timeBetween } from './job-times.ts'

const COLUMNS: readonly TableColumn<Job>[] = [
  { id: 'state', title: 'State', width: 150, isName: true, cell: (job) => <JobState job={job} /> },
  {
    id: 'step',
    title: 'Step',
    width: 64,
    align: 'end',
    cell: ({ checkpoint_step }) => checkpoint_step ?? MISSING,
  },
  { id: 'kind', title: 'Kind', width: 56, cell: ({ kind }) => kind.toUpperCase() },
  timeColumn({ id: 'created', title: 'Submitted', at: ({ created_at }) => created_at }),
  {
    id: 'waited',
    title: 'Waited',
    width: 84,
    align: 'end',
    cell: ({ created_at, started_at }) => formatDuration(timeBetween(created_at, started_at)),
  },
  {
    id: 'trained',
    title: 'Trained',
    width: 84,
    align: 'end',
    cell: ({ started_at, ended_at }) => formatDuration(timeBetween(started_at, ended_at)),
  },
  ...(['groups', 'trajectories', 'gradient_steps'] as const).map(
    (count): TableColumn<Job> => ({
      id: count,
      title: count === 'gradient_steps' ? 'Gradient steps' : count === 'groups' ? 'Groups' : 'Trajectories',
      width: 104,
      align: 'end',
      cell: ({ counts }) => formatCount(counts[count]),
    }),
  ),
  {
    id: 'error',
    title: 'Error',
    width: 160,
    grows: true,
    cell: ({ error_message }) => <span className="text-error">{error_message}</span>,
  },
]

const SKELETON_ROWS = 12

interface JobsTableProps {
  model: Model
  jobs: readonly Job[]
  isPending: boolean
}

/** Every job of a model: each makes one step of it. */
export function JobsTable({ model, jobs, isPending }: JobsTableProps) {
  if (!isPending && jobs.length === 0)
    return (
      <EmptyState title="No job has trained this model yet">
        <p>A client sends trajectory groups (`backend.train`) or a dataset, and its job appears here.</p>
      </EmptyState>
    )
  return (
    <div className="flex h-full flex-col">
      <DataTable
        label="Jobs"
        memory="jobs"
        columns={COLUMNS}
        rowCount={isPending ? SKELETON_ROWS : jobs.length}
        rowAt={(index) => jobs[index]}
        rowId={({ id }) => id}
        pageOf={(job) => ({
          to: '/$entity/$project/training/$model/jobs/$job',
          params: { entity: model.entity, project: model.project, model: model.name, job: job.id },
        })}
        narrow={(job) => (
          <span className="flex min-w-0 flex-col">
            <JobState job={job} />
            <span className="tabular truncate text-xs text-muted">
              step {job.checkpoint_step ?? MISSING} ·{' '}
              {formatDuration(timeBetween(job.started_at, job.ended_at))} · <Time iso={job.created_at} />
            </span>
          </span>
        )}
      />
    </div>
  )
}
