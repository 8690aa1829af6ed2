import { useMemo } from 'react'
import type { TableColumn } from '../../../components/data-table/column.ts'
import { DataTable } from '../../../components/data-table/data-table.tsx'
import { formatNumber } from '../../../components/format.ts'
import { Badge } from '../../../components/status.tsx'
import { type Group, rewardRange } from './groups.ts'
import { StripPlot } from './strip-plot.tsx'

interface GroupsTableProps {
  groups: readonly Group[]
  /** The prompt of each group. */
  texts: ReadonlyMap<number, string>
  isPending: boolean
  isStale: boolean
  openGroup: number
  onOpen: (group: number, how: 'push' | 'replace') => void
}

const SKELETON_ROWS = 16

/** One line a group: its rewards side by side, their mean and spread. */
export function GroupsTable({ groups, texts, isPending, isStale, openGroup, onOpen }: GroupsTableProps) {
  const columns = useMemo(() => columnsFor(texts, rewardRange(groups)), [texts, groups])
  const open = (group: Group) => onOpen(group.group, openGroup < 0 ? 'push' : 'replace')
  return (
    <DataTable
      label="Groups"
      memory="groups"
      columns={columns}
      rowCount={isPending ? SKELETON_ROWS : groups.length}
      rowAt={(index) => groups[index]}
      rowId={({ group }) => String(group)}
      openId={String(openGroup)}
      isStale={isStale}
      onOpen={open}
      {...(openGroup >= 0 && { onActive: open })}
      narrow={(group) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate text-strong">{texts.get(group.group) ?? `Group ${group.group}`}</span>
          <span className="tabular flex items-center gap-2 text-xs text-muted">
            <StripPlot group={group} range={rewardRange(groups)} /> {formatNumber(group.mean)}
          </span>
        </span>
      )}
    />
  )
}

function columnsFor(texts: ReadonlyMap<number, string>, range: [number, number]): TableColumn<Group>[] {
  return [
    {
      id: 'rewards',
      title: `Rewards, ${formatNumber(range[0])} to ${formatNumber(range[1])}`,
      width: 166,
      cell: (group) => (
        <span className="flex h-full items-center">
          <StripPlot group={group} range={range} />
        </span>
      ),
    },
    { id: 'mean', title: 'Mean', width: 64, align: 'end', cell: ({ mean }) => formatNumber(mean) },
    { id: 'spread', title: 'Spread', width: 64, align: 'end', cell: ({ spread }) => formatNumber(spread) },
    { id: 'attempts', title: 'Attempts', width: 72, align: 'end', cell: ({ attempts }) => attempts.length },
    {
      id: 'prompt',
      title: 'Prompt',
      width: 280,
      grows: true,
      cell: ({ group }) => <span className="text-strong">{texts.get(group) ?? `Group ${group}`}</span>,
    },
    {
      id: 'notes',
      title: 'Notes',
      width: 170,
      cell: ({ spread, attempts, exceptions, isGrowing }) => (
        <span className="flex h-full items-center gap-1">
          {spread === 0 && attempts.length > 0 && !isGrowing && <Badge>no difference: not trained on</Badge>}
          {exceptions > 0 && <Badge tone="error">{exceptions} failed</Badge>}
        </span>
      ),
    },
  ]
}
