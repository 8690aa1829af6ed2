import { getRouteApi } from '@tanstack/react-router'
import { projectId } from '../../api/project.ts'
import { Cost, Count, Duration } from '../../components/numbers.tsx'
import { Page } from '../../components/page.tsx'
import { SplitPane } from '../../components/split-pane.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { CallHeader } from './call-header.tsx'
import { CallDetail } from './detail/call-detail.tsx'
import type { CallSearch } from './search.ts'
import type { TraceTree } from './tree/trace-tree.ts'
import { TreePane } from './tree/tree-pane.tsx'
import { useTrace } from './tree/use-trace.ts'
import { useSelection } from './use-selection.ts'

const route = getRouteApi('/$entity/$project/calls/$id')

/** One call in its trace: the tree with its times beside everything that is known of the call. */
export function CallPage() {
  const { id, ...name } = route.useParams()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const project = projectId(name)
  const trace = useTrace(project, id)
  const [selected, select] = useSelection(id, (next, how) => {
    void navigate({ params: (old) => ({ ...old, id: next }), search: true, replace: how === 'replace' })
  })
  const change = (changed: Partial<CallSearch>, how: 'push' | 'replace') =>
    void navigate({ search: (old) => ({ ...old, ...changed }), replace: how === 'replace' })
  const { tree } = trace
  if (trace.isMissing)
    return (
      <Page title="Call">
        <EmptyState title="There is no such call">
          <p>
            It may have been deleted, or it is still on its way: this page shows it as soon as it is there.
          </p>
        </EmptyState>
      </Page>
    )
  if (trace.error !== null && tree === undefined)
    return (
      <Page title="Call">
        <ErrorState title="The trace could not be loaded" error={trace.error} onRetry={trace.retry} />
      </Page>
    )
  return (
    <Page
      title={<Title tree={tree} />}
      tab={tree?.calls[tree.placeOf.get(selected) ?? 0]?.name ?? 'Call'}
      actions={<TraceFacts tree={tree} isComplete={trace.isComplete} />}
    >
      {trace.error !== null && <StaleBanner error={trace.error} onRetry={trace.retry} />}
      <SplitPane
        name="call"
        initial={50}
        first={
          tree === undefined ? (
            <TreeSkeleton />
          ) : (
            <TreePane
              tree={tree}
              isComplete={trace.isComplete}
              selected={selected}
              select={select}
              find={search.find}
              onFind={(find) => change({ find }, 'replace')}
              hasPath={search.path === 'critical'}
              onPath={(isShown) => change({ path: isShown ? 'critical' : 'hidden' }, 'replace')}
            />
          )
        }
        second={
          <CallDetail
            name={name}
            id={id}
            tab={search.tab}
            onTab={(tab) => change({ tab }, 'push')}
            header={(call) => <CallHeader name={name} call={call} />}
          />
        }
      />
    </Page>
  )
}

function Title({ tree }: { tree: TraceTree | undefined }) {
  const root = tree?.calls[0]
  if (root === undefined) return <Skeleton className="h-4 w-48" />
  return <span title={root.name}>{root.name}</span>
}

function TraceFacts({ tree, isComplete }: { tree: TraceTree | undefined; isComplete: boolean }) {
  if (tree === undefined) return <Skeleton className="h-3 w-40" />
  const total = (values: Float64Array) => {
    const known = [...values].filter((value, place) => tree.depths[place] === 0 && !Number.isNaN(value))
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0)
  }
  const tokens = total(tree.tokens)
  const cost = total(tree.cost)
  return (
    <p className="tabular flex items-center gap-3 text-xs text-muted">
      <span>
        <Count value={tree.size} unit="calls" /> {tree.size === 1 ? 'call' : 'calls'}
        {!isComplete && '…'}
      </span>
      <Duration value={tree.end - tree.start} />
      {tokens !== null && (
        <span className="max-md:hidden">
          <Count value={tokens} unit="tokens" /> tokens
        </span>
      )}
      {cost !== null && <Cost value={cost} className="max-md:hidden" />}
    </p>
  )
}

function TreeSkeleton() {
  return (
    <div aria-busy className="flex flex-1 flex-col gap-3 p-3">
      <Skeleton className="h-6 w-full" />
      <Skeleton className="h-12 w-full" />
      {['w-2/3', 'w-1/2', 'w-3/5', 'w-2/5', 'w-5/12', 'w-1/3'].map((width) => (
        <Skeleton key={width} className={`h-3 ${width}`} />
      ))}
    </div>
  )
}
