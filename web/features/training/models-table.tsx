import { useQuery } from '@tanstack/react-query'
import { findBest, REWARD } from '../../../src/training/checkpoints/best-step-wire.ts'
import { checkpointsQuery, type Job, type Model } from '../../api/training.ts'
import { Sparkline } from '../../components/bars.tsx'
import type { TableColumn } from '../../components/data-table/column.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatNumber, MISSING } from '../../components/format.ts'
import { Skeleton } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { JobState } from './job-state.tsx'

/** One model of the list. */
export interface ModelRow {
  model: Model
  /** Its job that has not ended. */
  job: Job | undefined
}

/** Steps are requested by the rows in view; all cells of a row share one request. */
function useSteps({ model, job }: ModelRow) {
  return useQuery(checkpointsQuery(model.id, { isLive: job !== undefined }))
}

function LastStep({ row }: { row: ModelRow }) {
  const { data } = useSteps(row)
  return data === undefined ? <Skeleton className="my-2 ms-auto h-3 w-6" /> : (data.at(-1)?.step ?? MISSING)
}

function Best({ row }: { row: ModelRow }) {
  const { data } = useSteps(row)
  const best = data && findBest(row.model, data)
  if (best === undefined) return <span className="text-muted">{MISSING}</span>
  return (
    <span title={`The best ${best.metric} of all steps`}>
      <span className="text-strong">step {best.step.step}</span>{' '}
      <span className="text-muted">
        {best.metric} {formatNumber(best.value)}
      </span>
    </span>
  )
}

function Reward({ row }: { row: ModelRow }) {
  const { data } = useSteps(row)
  const rewards = (data ?? []).flatMap(({ metrics }) => metrics[REWARD] ?? [])
  if (rewards.length === 0) return <span className="text-muted">{MISSING}</span>
  const [first, last] = [formatNumber(rewards[0]), formatNumber(rewards.at(-1))]
  return (
    <span className="flex items-center gap-2">
      <Sparkline values={rewards} label={`Reward from ${first} to ${last}`} height={16} />
      <span className="tabular">{last}</span>
    </span>
  )
}

export const MODEL_COLUMNS: readonly TableColumn<ModelRow>[] = [
  {
    id: 'name',
    title: 'Model',
    width: 240,
    isName: true,
    cell: ({ model }) => <span className="text-strong">{model.name}</span>,
  },
  {
    id: 'job',
    title: 'Training',
    width: 150,
    cell: ({ job }) =>
      job === undefined ? <span className="text-muted">idle</span> : <JobState job={job} />,
  },
  { id: 'step', title: 'Last step', width: 76, align: 'end', cell: (row) => <LastStep row={row} /> },
  { id: 'reward', title: 'Reward', width: 170, cell: (row) => <Reward row={row} /> },
  { id: 'best', title: 'Best', width: 200, grows: true, cell: (row) => <Best row={row} /> },
  { id: 'base', title: 'Base model', width: 180, cell: ({ model }) => <Badge>{model.base_model}</Badge> },
  { id: 'rank', title: 'Rank', width: 56, align: 'end', cell: ({ model }) => model.lora.rank },
  timeColumn({ id: 'created', title: 'Created', at: ({ model }) => model.created_at }),
]

/** Two lines of a model, on a phone. */
export function NarrowModel({ row }: { row: ModelRow }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate text-strong">{row.model.name}</span>
      <span className="tabular flex items-center gap-2 text-xs text-muted">
        step <LastStep row={row} />
        <Reward row={row} />
        {row.job !== undefined && <JobState job={row.job} />}
      </span>
    </span>
  )
}
