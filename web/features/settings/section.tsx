import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, Skeleton } from '../../components/states.tsx'

/** What a tab shows: its explanation, the form that adds something, and the list. */
export function Section({
  about,
  form,
  children,
}: {
  about: ReactNode
  form?: ReactNode
  children: ReactNode
}) {
  return (
    <div className="thin-scroll flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 max-md:p-3">
      <p className="max-w-2xl text-muted">{about}</p>
      {form}
      {children}
    </div>
  )
}

/** A list that is loading, could not be loaded, or is there. */
export function Loaded<Data>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<Data>
  /** Such as `The keys`. */
  what: string
  children: (data: Data) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.error !== null)
    return (
      <ErrorState
        title={`${what} could not be loaded`}
        error={query.error}
        onRetry={() => void query.refetch()}
      />
    )
  return <Skeleton className="h-32 w-full" />
}
