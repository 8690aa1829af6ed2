import { useInfiniteQuery } from '@tanstack/react-query'
import { exampleKey } from '../../api/key.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { type Run, runsQuery } from '../../api/runs.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { PagedTable } from '../../components/data-table/paged-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount } from '../../components/format.ts'
import { CodeBlock, EmptyState } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { RunState } from './run-state.tsx'

const COLUMNS: readonly TableColumn<Run>[] = [
  {
    id: 'name',
    title: 'Run',
    width: 240,
    grows: true,
    isName: true,
    cell: ({ display_name, run }) => <span className="text-strong">{display_name || run}</span>,
  },
  { id: 'state', title: 'State', width: 110, cell: (run) => <RunState state={run.state} /> },
  {
    id: 'step',
    title: 'Last step',
    width: 84,
    align: 'end',
    cell: ({ last_step }) => formatCount(last_step),
  },
  { id: 'type', title: 'Type', width: 100, cell: ({ job_type }) => job_type ?? '' },
  {
    id: 'tags',
    title: 'Tags',
    width: 160,
    cell: ({ tags }) => (
      <span className="flex gap-1">
        {tags.map((tag) => (
          <Badge key={tag}>{tag}</Badge>
        ))}
      </span>
    ),
  },
  timeColumn({ id: 'created', title: 'Started', at: ({ created_at }) => created_at }),
]

/** What clients log with `wandb.log`. */
export function RunsTable({ name }: { name: ProjectName }) {
  const runs = useInfiniteQuery(runsQuery(name))
  return (
    <div className="flex h-full flex-col">
      <PagedTable
        label="Runs"
        memory="runs"
        what="Runs"
        empty={<NoRuns {...name} />}
        query={runs}
        columns={COLUMNS}
        question={projectId(name)}
        pageOf={({ run }) => ({
          to: '/$entity/$project/training',
          params: name,
          search: { view: 'runs', run },
        })}
        narrow={(run) => (
          <span className="flex min-w-0 flex-col">
            <span className="truncate text-strong">{run.display_name || run.run}</span>
            <span className="tabular flex gap-2 text-xs text-muted">
              <RunState state={run.state} /> step {formatCount(run.last_step)} <Time iso={run.created_at} />
            </span>
          </span>
        )}
      />
    </div>
  )
}

function NoRuns({ entity, project }: ProjectName) {
  const python = `import os
os.environ["WANDB_BASE_URL"] = "${window.location.origin}"
os.environ["WANDB_API_KEY"] = "${exampleKey()}"

import wandb
run = wandb.init(entity="${entity}", project="${project}")
for step in range(100):
    run.log({"loss": 1 / (step + 1)})
run.finish()`
  return (
    <EmptyState title="No run has logged metrics yet">
      <p>Run this, and its curve appears here by itself.</p>
      <CodeBlock label="lines" code={python} />
    </EmptyState>
  )
}
