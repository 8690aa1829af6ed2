import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { findBest } from '../../../src/training/checkpoints/best-step-wire.ts'
import {
  type Checkpoint,
  checkpointQuery,
  checkpointsQuery,
  deleteCheckpoint,
  type Model,
} from '../../api/training.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { formatBytes, formatNumber, MISSING } from '../../components/format.ts'
import { pressKey } from '../../components/keys.ts'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { notify } from '../../components/toast.ts'
import type { ChangeModel, ModelSearch } from './search.ts'
import { StepPanel } from './step-panel.tsx'

interface StepRow {
  checkpoint: Checkpoint
  model: Model
  isBest: boolean
}

/** Metrics that have a column of their own; the panel of a step has all of them. */
const METRICS = ['reward', 'val/reward', 'loss', 'entropy', 'on_policy/kl_to_base', 'grad_norm']

function columnsFor(checkpoints: readonly Checkpoint[]): TableColumn<StepRow>[] {
  const shown = METRICS.filter((name) => checkpoints.some(({ metrics }) => metrics[name] !== undefined))
  return [
    {
      id: 'step',
      title: 'Step',
      width: 64,
      align: 'end',
      cell: ({ checkpoint }) => <span className="text-strong">{checkpoint.step}</span>,
    },
    {
      id: 'tags',
      title: 'Tags',
      width: 150,
      cell: ({ checkpoint, isBest }) => (
        <span className="flex h-full items-center gap-1">
          {isBest && <Badge tone="accent">best</Badge>}
          {checkpoint.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
        </span>
      ),
    },
    ...shown.map(
      (name): TableColumn<StepRow> => ({
        id: name,
        title: name,
        width: 110,
        align: 'end',
        cell: ({ checkpoint }) => formatNumber(checkpoint.metrics[name]),
      }),
    ),
    { id: 'size', title: 'Size', width: 84, align: 'end', cell: (row) => <Size row={row} /> },
    timeColumn({ id: 'created', title: 'Made', at: ({ checkpoint }) => checkpoint.created_at, grows: true }),
  ]
}

/** Files are requested by the rows in view. */
function Size({ row: { model, checkpoint } }: { row: StepRow }) {
  const { data } = useQuery({
    ...checkpointQuery(model.id, checkpoint.step),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data === undefined ? MISSING : formatBytes(data.files.reduce((sum, { size }) => sum + size, 0))
}

const SKELETON_ROWS = 12

interface StepsTableProps {
  model: Model
  checkpoints: readonly Checkpoint[]
  isPending: boolean
  search: ModelSearch
  change: ChangeModel
}

/** Every step of a model, the newest first. */
export function StepsTable({ model, checkpoints, isPending, search, change }: StepsTableProps) {
  const [doomed, setDoomed] = useState<number>()
  const queries = useQueryClient()
  const columns = useMemo(() => columnsFor(checkpoints), [checkpoints])
  const best = findBest(model, checkpoints)?.step.step
  const rows = checkpoints
    .map((checkpoint): StepRow => ({ checkpoint, model, isBest: checkpoint.step === best }))
    .reverse()
  const open = rows.find(({ checkpoint }) => checkpoint.step === search.step)
  const remove = (step: number) =>
    void deleteCheckpoint(model.id, step).then(
      () => {
        notify({ title: `Step ${step} is gone` })
        change({ step: -1 }, 'replace')
        void queries.invalidateQueries({ queryKey: checkpointsQuery(model.id).queryKey })
      },
      (error: Error) => notify({ title: `Step ${step} could not be deleted`, detail: error.message }),
    )
  const show = ({ checkpoint }: StepRow) =>
    change({ step: checkpoint.step }, open === undefined ? 'push' : 'replace')
  return (
    <div className="relative flex h-full flex-col">
      <DataTable
        label="Steps"
        memory="steps"
        columns={columns}
        rowCount={isPending ? SKELETON_ROWS : rows.length}
        rowAt={(index) => rows[index]}
        rowId={({ checkpoint }) => checkpoint.id}
        openId={open?.checkpoint.id}
        onOpen={show}
        {...(open !== undefined && { onActive: show })}
        narrow={(row) => (
          <span className="flex min-w-0 flex-col">
            <span className="flex items-center gap-2 text-strong">
              step {row.checkpoint.step} {row.isBest && <Badge tone="accent">best</Badge>}
            </span>
            <span className="tabular flex gap-2 text-xs text-muted">
              reward {formatNumber(row.checkpoint.metrics['reward'])} · <Size row={row} /> ·{' '}
              <Time iso={row.checkpoint.created_at} />
            </span>
          </span>
        )}
      />
      {open !== undefined && (
        <StepPanel
          model={model}
          checkpoint={open.checkpoint}
          isLast={checkpoints.length === 1}
          onClose={() => change({ step: -1 })}
          onMove={(by) => pressKey(by === 1 ? 'j' : 'k')}
          onDelete={() => setDoomed(open.checkpoint.step)}
        />
      )}
      <ConfirmDialog
        title={`Delete step ${doomed ?? ''}?`}
        consequence={`Its weights and its optimizer state go, and step ${doomed ?? ''} can no longer be asked. The calls of its trajectories stay. This cannot be undone.`}
        action="Delete"
        isOpen={doomed !== undefined}
        onClose={() => setDoomed(undefined)}
        onConfirm={() => doomed !== undefined && remove(doomed)}
      />
    </div>
  )
}
