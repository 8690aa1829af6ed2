import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Call } from '../../api/calls.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { LIVE_MS } from '../../api/query-client.ts'
import { readThreads, type Thread } from '../../api/threads.ts'
import type { TableColumn } from '../../components/data-table/column.ts'
import { DataTable } from '../../components/data-table/data-table.tsx'
import { useNextPage } from '../../components/data-table/next-page.ts'
import { timeColumn } from '../../components/data-table/time-column.tsx'
import { formatCount, formatDuration } from '../../components/format.ts'
import { useIsNarrow } from '../../components/media.ts'
import { Page } from '../../components/page.tsx'
import { SplitPane } from '../../components/split-pane.tsx'
import { CodeBlock, EmptyState, ErrorState, StaleBanner } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { ThreadView } from './thread-view.tsx'

const route = getRouteApi('/$entity/$project/threads')

/** Threads of one request; more are requested as one scrolls. */
const PAGE_THREADS = 200
const SKELETON_ROWS = 40

const COLUMNS: readonly TableColumn<Thread>[] = [
  {
    id: 'thread',
    title: 'Thread',
    width: 180,
    grows: true,
    isName: true,
    cell: (row) => <span className="text-strong">{row.thread_id}</span>,
  },
  timeColumn({ id: 'last', title: 'Last turn', at: (row) => row.last_updated }),
  { id: 'turns', title: 'Turns', width: 64, align: 'end', cell: (row) => formatCount(row.turn_count) },
  {
    id: 'p50',
    title: 'Median',
    width: 84,
    align: 'end',
    cell: (row) => formatDuration(row.p50_turn_duration_ms),
  },
  {
    id: 'p99',
    title: 'Slowest 1 %',
    width: 92,
    align: 'end',
    cell: (row) => formatDuration(row.p99_turn_duration_ms),
  },
]

interface ThreadsPageProps {
  /** Shows the messages of one turn. */
  turn: (project: string, call: Call) => ReactNode
}

/** Conversations over several traces, each shown as one. */
export function ThreadsPage({ turn }: ThreadsPageProps) {
  const name = route.useParams()
  const { thread } = route.useSearch()
  const navigate = route.useNavigate()
  const isNarrow = useIsNarrow()
  const open = (next: string) =>
    void navigate({ search: { thread: next }, replace: thread !== '' && next !== '' })
  const view =
    thread === '' ? null : (
      <ThreadView key={thread} name={name} thread={thread} turn={turn} onClose={() => open('')} />
    )
  const list = <ThreadList name={name} openId={thread} onOpen={open} />
  return (
    <Page title="Threads" tab={thread === '' ? `Threads of ${name.project}` : thread}>
      {view === null ? (
        list
      ) : isNarrow ? (
        view
      ) : (
        <SplitPane name="threads" initial={42} first={list} second={view} />
      )}
    </Page>
  )
}

function ThreadList({
  name,
  openId,
  onOpen,
}: {
  name: ProjectName
  openId: string
  onOpen: (id: string) => void
}) {
  const project = projectId(name)
  const query = useInfiniteQuery({
    queryKey: ['threads', project, 'list'],
    initialPageParam: 0,
    refetchInterval: LIVE_MS,
    queryFn: ({ pageParam, signal }) =>
      readThreads(project, { limit: PAGE_THREADS, offset: pageParam }, { signal }),
    getNextPageParam: (last, pages) => (last.length < PAGE_THREADS ? undefined : pages.length * PAGE_THREADS),
  })
  const { data, error, isPending } = query
  const rows = data?.pages.flat() ?? []
  const { onRange, retry } = useNextPage(query, rows.length - PAGE_THREADS / 4)
  if (error !== null && data === undefined)
    return <ErrorState title="Threads could not be loaded" error={error} onRetry={retry} />
  if (!isPending && rows.length === 0) return <NoThreads />
  return (
    <>
      {error !== null && <StaleBanner error={error} onRetry={retry} />}
      <DataTable
        label="Threads"
        memory={`threads.${project}`}
        columns={COLUMNS}
        rowCount={isPending ? SKELETON_ROWS : rows.length}
        rowAt={(index) => rows[index]}
        rowId={(row) => row.thread_id}
        openId={openId}
        onOpen={(row) => onOpen(row.thread_id)}
        pageOf={({ thread_id }) => ({
          to: '/$entity/$project/threads',
          params: name,
          search: { thread: thread_id },
        })}
        {...(openId !== '' && { onActive: (row: Thread) => onOpen(row.thread_id) })}
        onRange={onRange}
        narrow={(row) => (
          <>
            <span className="block truncate text-strong">{row.thread_id}</span>
            <span className="tabular block truncate text-xs text-muted">
              <Time iso={row.last_updated} /> · {formatCount(row.turn_count)}{' '}
              {row.turn_count === 1 ? 'turn' : 'turns'} · {formatDuration(row.p50_turn_duration_ms)}
            </span>
          </>
        )}
      />
    </>
  )
}

function NoThreads() {
  return (
    <EmptyState title="No threads yet">
      <p>
        A thread is a conversation over several calls. With weave, each call within one of these is a turn:
      </p>
      <CodeBlock label="the lines" code={'with weave.thread("conversation-1"):\n    answer("Hello")'} />
      <p>With OpenTelemetry, give each span the attribute `gen_ai.conversation.id`.</p>
    </EmptyState>
  )
}
