import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import {
  countRows,
  listObjects,
  OBJECTS_PAGE,
  OBJECTS_PAGING,
  type StoredObject,
  tableOf,
} from '../../api/objects.ts'
import { projectId } from '../../api/project.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { PagedTable } from '../../components/data-table/paged-table.tsx'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { CodeBlock, EmptyState } from '../../components/states.tsx'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { DatasetPage } from './dataset-page.tsx'

const route = getRouteApi('/$entity/$project/datasets')

interface DatasetRow {
  id: string
  name: string
  versions: number
  rows: number | undefined
  aliases: string[]
  changedAt: string
}

/** The datasets of a project, or one of them, or a table. */
export function DatasetsPage() {
  const { name, table } = route.useSearch()
  return name === '' && table === '' ? <DatasetList /> : <DatasetPage key={name || table} />
}

function DatasetList() {
  const params = route.useParams()
  const project = projectId(params)
  const datasets = useInfiniteQuery({
    queryKey: ['objects', project, 'datasets'],
    queryFn: ({ pageParam, signal }) => listDatasets(project, pageParam, signal),
    ...OBJECTS_PAGING,
    select: ({ pages }) => pages.flat(),
  })
  return (
    <Page title="Datasets" tab={`Datasets of ${params.project}`}>
      <PagedTable
        label="Datasets"
        memory={`datasets.${project}`}
        what="Datasets"
        empty={<NoDatasets project={project} />}
        query={datasets}
        columns={COLUMNS}
        question={project}
        pageOf={({ name }) => ({ to: '/$entity/$project/datasets', params, search: { name } })}
        narrow={(row) => <NarrowDataset row={row} />}
      />
    </Page>
  )
}

const COLUMNS: readonly TableColumn<DatasetRow>[] = [
  {
    id: 'name',
    title: 'Dataset',
    width: 260,
    grows: true,
    isName: true,
    cell: (row) => <span className="truncate text-strong">{row.name}</span>,
  },
  { id: 'rows', title: 'Rows', width: 96, align: 'end', cell: (row) => formatCount(row.rows) },
  { id: 'versions', title: 'Versions', width: 96, align: 'end', cell: (row) => formatCount(row.versions) },
  {
    id: 'aliases',
    title: 'Labels',
    width: 200,
    cell: (row) => (
      <span className="flex h-7 items-center gap-1">
        {row.aliases.map((alias) => (
          <Badge key={alias}>{alias}</Badge>
        ))}
      </span>
    ),
  },
  timeColumn({ id: 'changed', title: 'Newest version', at: (row) => row.changedAt }),
]

function NarrowDataset({ row }: { row: DatasetRow }) {
  return (
    <span className="min-w-0 flex-1">
      <span className="block truncate text-strong">{row.name}</span>
      <span className="block text-xs text-muted">
        {formatCount(row.rows)} rows · {row.versions} versions · <Time iso={row.changedAt} />
      </span>
    </span>
  )
}

async function listDatasets(project: string, offset: number, signal: AbortSignal): Promise<DatasetRow[]> {
  const filter = { base_object_classes: ['Dataset'], latest_only: true }
  const latest = await listObjects(project, filter, { offset, limit: OBJECTS_PAGE, values: 'with', signal })
  const tables = latest.flatMap(({ val }) => tableOf(val) ?? [])
  const counts = tables.length === 0 ? new Map<string, number>() : await countRows(project, tables, signal)
  return latest.map((object) => datasetRow(object, counts))
}

function datasetRow(object: StoredObject, counts: ReadonlyMap<string, number>): DatasetRow {
  const { object_id, version_index, val, tags, aliases, created_at } = object
  return {
    id: object_id,
    name: object_id,
    versions: version_index + 1,
    rows: counts.get(tableOf(val) ?? ''),
    aliases: [...(tags ?? []), ...(aliases ?? [])].filter((label) => label !== 'latest'),
    changedAt: created_at,
  }
}

function NoDatasets({ project }: { project: string }) {
  const python = `import weave
weave.init("${project}")

rows = [{"question": "2 + 2?", "expected": "4"}, {"question": "3 + 3?", "expected": "6"}]
weave.publish(weave.Dataset(name="sums", rows=rows))`
  return (
    <EmptyState title="No datasets yet">
      <p>A dataset is a table of rows with versions. A client makes one so:</p>
      <CodeBlock label="the example" code={python} />
      <p>
        Calls that are worth keeping become one with{' '}
        <code className="font-mono text-xs">
          npm run collect -- --project {project} --into dataset --name good
        </code>
      </p>
    </EmptyState>
  )
}
