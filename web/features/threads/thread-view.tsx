import { Link } from '@tanstack/react-router'
import { ChevronUp, X } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { factsOf } from '../../api/call-facts.ts'
import type { Call } from '../../api/calls.ts'
import { type ProjectName, projectId } from '../../api/project.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { Id } from '../../components/copy-button.tsx'
import { useNextPage } from '../../components/data-table/next-page.ts'
import { formatCount } from '../../components/format.ts'
import { useKeys } from '../../components/keys.ts'
import { Cost, Count, Duration } from '../../components/numbers.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { useTurns } from './use-turns.ts'

interface ThreadViewProps {
  name: ProjectName
  thread: string
  turn: (project: string, call: Call) => ReactNode
  onClose: () => void
}

/** A thread as it went: turns from the oldest to the newest, the newest in view. */
export function ThreadView({ name, thread, turn, onClose }: ThreadViewProps) {
  const project = projectId(name)
  const { facts, query, turns, isLoadingLater } = useTurns(project, thread)
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query
  const { retry } = useNextPage(query, 0)
  const scroller = useStayingPut(turns)
  useKeys('Thread', [{ keys: 'Escape', does: 'Close', run: onClose }])
  return (
    <section aria-label={`Thread ${thread}`} className="flex min-h-0 flex-1 flex-col bg-panel">
      <header className="flex h-10 shrink-0 items-center gap-2 border-b border-hair ps-3 pe-2">
        <h2 className="truncate text-sm font-strong text-strong">{thread}</h2>
        <Id id={thread} />
        {facts != null && (
          <span className="tabular text-xs whitespace-nowrap text-muted">
            {formatCount(facts.turn_count)} {facts.turn_count === 1 ? 'turn' : 'turns'}
          </span>
        )}
        <span className="ms-auto">
          <IconButton label="Close" keys="Escape" icon={<X size={16} />} onClick={onClose} />
        </span>
      </header>
      {error !== null && data !== undefined && <StaleBanner error={error} onRetry={retry} />}
      {error !== null && data === undefined ? (
        <ErrorState title="The turns could not be loaded" error={error} onRetry={retry} />
      ) : turns?.length === 0 ? (
        <EmptyState title="This thread has no turns">
          <p>Its calls may have been deleted.</p>
        </EmptyState>
      ) : (
        <div
          ref={scroller}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
          tabIndex={0}
          role="log"
          aria-label="Turns"
          className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-3"
        >
          {hasNextPage && (
            <Button
              size="small"
              icon={<ChevronUp size={13} />}
              disabled={isFetching || isLoadingLater}
              onClick={() => void fetchNextPage()}
            >
              Show earlier turns
            </Button>
          )}
          {turns === undefined ? (
            <TurnSkeletons />
          ) : (
            turns.map((call) => (
              <Turn key={call.id} name={name} call={call}>
                {turn(project, call)}
              </Turn>
            ))
          )}
        </div>
      )}
    </section>
  )
}

function Turn({ name, call, children }: { name: ProjectName; call: Call; children: ReactNode }) {
  const { name: shown, status, statusWord, startedMs, endedMs, tokens, cost } = factsOf(call)
  return (
    <article aria-label={`Turn ${shown}`} className="flex flex-col gap-2">
      <header className="tabular flex items-center gap-2 text-xs text-muted">
        <Status kind={status} word={statusWord} show="dot" />
        <Link
          to="/$entity/$project/calls/$id"
          params={{ ...name, id: call.id }}
          className="truncate text-link hover:underline"
          title="Open the trace"
        >
          {shown}
        </Link>
        <span className="ms-auto flex items-center gap-3 whitespace-nowrap">
          {tokens !== null && (
            <span>
              <Count value={tokens} unit="tokens" /> tokens
            </span>
          )}
          {cost !== null && <Cost value={cost} />}
          <Duration value={endedMs === null ? null : endedMs - startedMs} />
          <Time iso={call.started_at} />
        </span>
      </header>
      {children}
    </article>
  )
}

/** Begins at the newest turn; when earlier ones are loaded above, the view stays at the same text. */
function useStayingPut(turns: readonly Call[] | undefined) {
  const scroller = useRef<HTMLDivElement>(null)
  const last = useRef<{ height: number; first: string | undefined; newest: string | undefined }>(undefined)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || turns === undefined) return
    const first = turns[0]?.id
    const newest = turns.at(-1)?.id
    const { current } = last
    const isAtEnd =
      current === undefined || element.scrollTop + element.clientHeight > current.height - END_PX
    if (current === undefined || (current.newest !== newest && isAtEnd))
      element.scrollTop = element.scrollHeight
    else if (current.first !== first) element.scrollTop += element.scrollHeight - current.height
    last.current = { height: element.scrollHeight, first, newest }
  }, [turns])
  // Markdown and pictures load later and make the turns longer: a view at the end stays at the end.
  useEffect(() => {
    const element = scroller.current
    if (element === null) return
    const sizes = new ResizeObserver(() => {
      const { current } = last
      if (current === undefined || element.scrollHeight === current.height) return
      if (element.scrollTop + element.clientHeight > current.height - END_PX)
        element.scrollTop = element.scrollHeight
      current.height = element.scrollHeight
    })
    for (const child of element.children) sizes.observe(child)
    return () => sizes.disconnect()
  })
  return scroller
}

/** So close to the end is at the end. */
const END_PX = 40

function TurnSkeletons() {
  return (
    <>
      {['h-24', 'h-40', 'h-32'].map((height) => (
        <Skeleton key={height} className={`${height} w-full`} />
      ))}
    </>
  )
}
