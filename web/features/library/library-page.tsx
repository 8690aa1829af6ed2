import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { DIRECTIONS_OBJECT } from '../../api/metric-directions.ts'
import { monitorsQuery } from '../../api/monitors.ts'
import { listObjects, OBJECTS_MAX } from '../../api/objects.ts'
import { projectId } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { formatCount } from '../../components/format.ts'
import { Input } from '../../components/input.tsx'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { CodeBlock, EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { MONITOR_COLUMNS, NarrowObject, OBJECT_COLUMNS, type ObjectRow, objectRow } from './columns.tsx'
import { KIND_FACTS, KINDS, type Kind } from './kinds.ts'

const route = getRouteApi('/$entity/$project/library')
const SKELETON_ROWS = 8

/** Everything with versions that a project holds, of one kind, by name. */
export function LibraryPage() {
  const names = route.useParams()
  const { kind, find } = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(names)
  const { title, filter } = KIND_FACTS[kind]
  const objects = useQuery({
    queryKey: ['objects', project, 'library', kind],
    queryFn: ({ signal }) =>
      listObjects(project, { ...filter, latest_only: true }, { signal, values: 'without' }),
    // Stored by the pages themselves; no client published it.
    select: (objects) => objects.filter(({ object_id }) => object_id !== DIRECTIONS_OBJECT),
  })
  const monitors = useQuery({ ...monitorsQuery(project), enabled: kind === 'monitors' })
  const { data, error } = objects
  const stale = data && [objects, monitors].find((query) => query.error !== null)
  const wanted = find.toLowerCase()
  const rows = data
    ?.filter(({ object_id }) => object_id.toLowerCase().includes(wanted))
    .map((object) =>
      objectRow(
        object,
        kind === 'monitors'
          ? monitors.data?.find(({ object_id }) => object_id === object.object_id)
          : undefined,
      ),
    )
  const open = ({ name, isDataset, isLeaderboard }: ObjectRow) => {
    if (isDataset) void navigate({ to: '/$entity/$project/datasets', params: names, search: { name } })
    else if (isLeaderboard)
      void navigate({ to: '/$entity/$project/leaderboards/$name', params: { ...names, name } })
    else
      void navigate({
        to: '/$entity/$project/objects/$name/versions/$version',
        params: { ...names, name, version: 'latest' },
      })
  }
  return (
    <Page
      title="Library"
      tab={`${title} of ${names.project}`}
      toolbar={<Choice isCut={data?.length === OBJECTS_MAX} />}
    >
      {stale?.error != null && <StaleBanner error={stale.error} onRetry={() => void stale.refetch()} />}
      {error !== null && data === undefined ? (
        <ErrorState
          title="Objects could not be loaded"
          error={error}
          onRetry={() => void objects.refetch()}
        />
      ) : data?.length === 0 ? (
        <NoObjects project={project} kind={kind} />
      ) : rows?.length === 0 ? (
        <EmptyState
          title={`No name has “${find}” in it`}
          actions={<Button onClick={() => void navigate({ search: { kind } })}>Show all</Button>}
        />
      ) : (
        <DataTable
          label={title}
          memory={`library.${kind === 'monitors' ? 'monitors.' : ''}${project}`}
          columns={kind === 'monitors' ? MONITOR_COLUMNS : OBJECT_COLUMNS}
          rowCount={rows?.length ?? SKELETON_ROWS}
          rowAt={(index) => rows?.[index]}
          rowId={(row) => row.name}
          onOpen={open}
          question={`${kind} ${find}`}
          narrow={(row) => <NarrowObject row={row} />}
        />
      )}
    </Page>
  )
}

/** Which objects are listed. @param isCut whether there may be more than are */
function Choice({ isCut }: { isCut: boolean }) {
  const { kind, find } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <>
      <Select
        label="Kind"
        value={kind}
        options={KINDS.map((value) => ({ value, label: KIND_FACTS[value].title }))}
        onChange={(next) => void navigate({ search: { kind: next, find } })}
      />
      <Input
        label="Find by name"
        placeholder="Find by name"
        icon={<Search size={14} aria-hidden />}
        className="w-64 max-md:flex-1"
        value={find}
        onValueChange={(next) => void navigate({ search: { kind, find: next }, replace: true })}
      />
      {isCut && (
        <span className="truncate text-xs text-muted">the {formatCount(OBJECTS_MAX)} that changed last</span>
      )}
    </>
  )
}

/** What publishes one of a kind. */
const EXAMPLES: Record<Kind, string> = {
  objects: 'weave.publish({"temperature": 0.2}, name="settings")',
  ops: '@weave.op\ndef add(a: int, b: int) -> int:\n    return a + b\n\nadd(1, 2)',
  models:
    'class Adder(weave.Model):\n    by: int\n\n    @weave.op\n    def predict(self, a: int) -> int:\n        return a + self.by\n\nweave.publish(Adder(name="add-two", by=2))',
  prompts: 'weave.publish(weave.StringPrompt("Answer {question} in one word."), name="short")',
  scorers:
    'class Brief(weave.Scorer):\n    @weave.op\n    def score(self, output: str) -> bool:\n        return len(output) < 100\n\nweave.publish(Brief(name="brief"))',
  monitors:
    'from weave.scorers import ValidJSONScorer\n\nweave.Monitor(\n    name="json", op_names=["answer"], scorers=[ValidJSONScorer()], sampling_rate=1\n).activate()',
  leaderboards:
    'from weave.flow import leaderboard\n\nweave.publish(\n    leaderboard.Leaderboard(\n        name="best",\n        columns=[\n            leaderboard.LeaderboardColumn(\n                evaluation_object_ref=weave.publish(evaluation).uri,\n                scorer_name="exact",\n                summary_metric_path="true_fraction",\n            )\n        ],\n    )\n)',
  datasets: 'weave.publish(weave.Dataset(name="sums", rows=[{"question": "2 + 2?", "expected": "4"}]))',
}

function NoObjects({ project, kind }: { project: string; kind: Kind }) {
  const { title } = KIND_FACTS[kind]
  const code = `import weave\nweave.init("${project}")\n\n${EXAMPLES[kind]}`
  return (
    <EmptyState title={kind === 'objects' ? 'No objects yet' : `No ${title.toLowerCase()} yet`}>
      <p>What a client publishes is kept here with all its versions:</p>
      <CodeBlock label="the example" code={code} />
    </EmptyState>
  )
}
