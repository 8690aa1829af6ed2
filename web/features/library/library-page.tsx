import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { DIRECTIONS_OBJECT } from '../../api/metric-directions.ts'
import { monitorsQuery } from '../../api/monitors.ts'
import { listObjects, OBJECTS_PAGE, OBJECTS_PAGING } from '../../api/objects.ts'
import { projectId } from '../../api/project.ts'
import { Button } from '../../components/button.tsx'
import { PagedTable } from '../../components/data-table/paged-table.tsx'
import type { RowPage } from '../../components/data-table/row-link.tsx'
import { Input } from '../../components/input.tsx'
import { Page } from '../../components/page.tsx'
import { Select } from '../../components/select.tsx'
import { CodeBlock, EmptyState, StaleBanner } from '../../components/states.tsx'
import { MONITOR_COLUMNS, NarrowObject, OBJECT_COLUMNS, type ObjectRow, objectRow } from './columns.tsx'
import { KIND_FACTS, KINDS, type Kind } from './kinds.ts'

const route = getRouteApi('/$entity/$project/library')

/** Everything with versions that a project holds, of one kind, by name. */
export function LibraryPage() {
  const names = route.useParams()
  const { kind, find } = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(names)
  const { title, filter } = KIND_FACTS[kind]
  const monitors = useQuery({ ...monitorsQuery(project), enabled: kind === 'monitors' })
  const objects = useInfiniteQuery({
    queryKey: ['objects', project, 'library', kind, find],
    queryFn: ({ pageParam, signal }) => {
      const wanted = { ...filter, latest_only: true, name_contains: find }
      return listObjects(project, wanted, {
        offset: pageParam,
        limit: OBJECTS_PAGE,
        values: 'without',
        signal,
      })
    },
    ...OBJECTS_PAGING,
    // While a person types, the names found so far are shown; of another kind, they would be wrong.
    placeholderData: (old, query) => (query?.queryKey[3] === kind ? old : undefined),
    select: ({ pages }) =>
      pages
        .flat()
        // Stored by the pages themselves; no client published it.
        .filter(({ object_id }) => object_id !== DIRECTIONS_OBJECT)
        .map((object) =>
          objectRow(
            object,
            monitors.data?.find(({ object_id }) => object_id === object.object_id),
          ),
        ),
  })
  const pageOf = ({ name, isDataset, isLeaderboard }: ObjectRow): RowPage => {
    if (isDataset) return { to: '/$entity/$project/datasets', params: names, search: { name } }
    if (isLeaderboard) return { to: '/$entity/$project/leaderboards/$name', params: { ...names, name } }
    return {
      to: '/$entity/$project/objects/$name/versions/$version',
      params: { ...names, name, version: 'latest' },
    }
  }
  return (
    <Page title="Library" tab={`${title} of ${names.project}`} toolbar={<Choice />}>
      {monitors.error !== null && (
        <StaleBanner error={monitors.error} onRetry={() => void monitors.refetch()} />
      )}
      <PagedTable
        label={title}
        memory={`library.${kind === 'monitors' ? 'monitors.' : ''}${project}`}
        what="Objects"
        empty={
          find === '' ? (
            <NoObjects project={project} kind={kind} />
          ) : (
            <EmptyState
              title={`No name has “${find}” in it`}
              actions={<Button onClick={() => void navigate({ search: { kind } })}>Show all</Button>}
            />
          )
        }
        query={objects}
        columns={kind === 'monitors' ? MONITOR_COLUMNS : OBJECT_COLUMNS}
        question={`${kind} ${find}`}
        pageOf={pageOf}
        narrow={(row) => <NarrowObject row={row} />}
      />
    </Page>
  )
}

/** Which objects are listed. */
function Choice() {
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
