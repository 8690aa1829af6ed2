import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { Page } from '../components/page.tsx'
import { EmptyState, ErrorState, Skeleton } from '../components/states.tsx'

/** While the chunk of a page is on its way. */
export function PagePending() {
  return (
    <Page title={<Skeleton className="h-4 w-32" />}>
      <div className="flex flex-col gap-3 p-4">
        {['w-2/3', 'w-1/2', 'w-3/5'].map((width) => (
          <Skeleton key={width} className={`h-3 ${width}`} />
        ))}
      </div>
    </Page>
  )
}

/** Messages of browsers for a chunk that the server does not have: it runs another build. */
const NOT_LOADED = /dynamically imported module|importing a module script/i

/** An error in a page, or a chunk that could not be loaded, which only a reload fixes. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <ErrorState
        title="This page could not be shown"
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={NOT_LOADED.test(String(error)) ? () => window.location.reload() : reset}
      />
    </Page>
  )
}

export function NotFound() {
  return (
    <Page title="Not found">
      <EmptyState title="There is no page at this address">
        <p>
          Go to{' '}
          <Link to="/" className="text-link underline">
            the projects of this server
          </Link>
          , or press <kbd>?</kbd> for all keys.
        </p>
      </EmptyState>
    </Page>
  )
}
