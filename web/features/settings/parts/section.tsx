import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../../components/button.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../../components/states.tsx'

interface SectionProps {
  title: string
  about: ReactNode
  /** What changes what is shown, or adds something. */
  form?: ReactNode
  children: ReactNode
  /** `table` for content that scrolls by itself. */
  content?: 'text' | 'table'
}

/** A page of the settings: its name and explanation, the form that adds something, and the list. */
export function Section({ title, about, form, children, content = 'text' }: SectionProps) {
  const head = (
    <>
      <div className="flex max-w-3xl flex-col gap-1">
        <h2 className="text-base font-strong text-strong">{title}</h2>
        <p className="text-pretty text-muted">{about}</p>
      </div>
      {form}
    </>
  )
  if (content === 'table')
    return (
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <div className="flex flex-col gap-3 p-4 max-md:p-3">{head}</div>
        <div className="flex min-h-0 flex-1 flex-col border-t border-hair">{children}</div>
      </div>
    )
  return (
    <div className="thin-scroll flex min-h-0 min-w-0 flex-1 flex-col gap-4 overflow-y-auto p-4 max-md:p-3">
      {head}
      {children}
    </div>
  )
}

/** Why something is shown that this person may not change. */
export function ReadOnly({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-2 text-muted">
      <Lock size={14} aria-hidden className="shrink-0" />
      {children}
    </p>
  )
}

interface LoadedProps<Data, Query> {
  query: Query
  /** Such as `The keys`. */
  what: string
  children: (data: Data) => ReactNode
}

/** What is loading, could not be loaded, or is there. */
export function Loaded<Data>({ query, what, children }: LoadedProps<Data, UseQueryResult<Data>>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error !== null)
    return <ErrorState title={`${what} could not be loaded`} error={error} onRetry={() => void refetch()} />
  return <Skeleton className="h-32 w-full" />
}

/** The same for a list that comes in pages. */
export function LoadedList<Item>({
  query,
  what,
  empty,
  children,
}: LoadedProps<Item[], UseInfiniteQueryResult<Item[]>> & { empty: string }) {
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = query
  if (data === undefined)
    return error === null ? (
      <Skeleton className="h-32 w-full" />
    ) : (
      <ErrorState title={`${what} could not be loaded`} error={error} onRetry={() => void refetch()} />
    )
  if (data.length === 0) return <EmptyState title={empty} />
  return (
    <>
      {error !== null && <StaleBanner error={error} onRetry={() => void refetch()} />}
      {children(data)}
      {hasNextPage && (
        <Button className="self-start" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}
