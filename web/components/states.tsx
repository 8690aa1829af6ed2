import { RotateCcw } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classNames } from './class-names.ts'
import { CopyButton } from './copy-button.tsx'
import { messageOf } from './message-of.ts'

/** Keeps the place of what loads, in its final size. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={classNames('block rounded-sm bg-inset', className ?? 'h-3 w-full')} />
}

interface EmptyStateProps {
  title: string
  /** Why, and what would change it. */
  children?: ReactNode
  /** Buttons. */
  actions?: ReactNode
}

/** Nothing yet, nothing that matches, or not available: say which, and what to do. */
export function EmptyState({ title, children, actions }: EmptyStateProps) {
  return (
    <div className="mx-auto flex w-full max-w-lg flex-col items-start gap-2 p-6">
      <h2 className="text-base font-strong text-strong">{title}</h2>
      {children !== undefined && <div className="flex w-full flex-col gap-2 text-muted">{children}</div>}
      {actions !== undefined && <div className="mt-1 flex flex-wrap gap-2">{actions}</div>}
    </div>
  )
}

interface ErrorStateProps {
  /** What was being done: "Calls could not be loaded". */
  title: string
  error: Error
  onRetry?: () => void
  /** Buttons beside that of another try. */
  actions?: ReactNode
}

/** The error, its id in the server's log, and a retry button. */
export function ErrorState({ title, error, onRetry, actions }: ErrorStateProps) {
  const requestId = 'requestId' in error && typeof error.requestId === 'string' ? error.requestId : undefined
  return (
    <div role="alert" className="mx-auto flex w-full max-w-lg flex-col items-start gap-2 p-6">
      <h2 className="text-base font-strong text-error">{title}</h2>
      <p className="wrap-anywhere text-normal">{messageOf(error)}</p>
      {requestId !== undefined && (
        <p className="flex items-center gap-1 text-xs text-muted">
          request <code className="font-mono">{requestId}</code>
          <CopyButton text={requestId} label="Copy request id" />
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {onRetry !== undefined && (
          <Button icon={<RotateCcw size={14} />} onClick={onRetry}>
            Try again
          </Button>
        )}
        {actions}
      </div>
    </div>
  )
}

/** A line where a part of a page could not be loaded, which goes on without it. */
export function ErrorLine({ title, error, onRetry }: ErrorStateProps & { onRetry: () => void }) {
  return (
    <div role="alert" className="flex items-center gap-2 px-3 py-1 text-xs text-error">
      <span className="min-w-0 flex-1 wrap-anywhere">
        {title}: {messageOf(error)}
      </span>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

/**
 * A line over data that is still shown although the last refresh failed; the frame itself reports an unreachable
 * server.
 */
export function StaleBanner({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <div
      role="status"
      className="flex h-8 shrink-0 items-center gap-2 bg-warn-soft px-4 text-xs text-warn in-data-offline:hidden"
    >
      <span className="min-w-0 flex-1 truncate">Showing what was loaded before: {messageOf(error)}</span>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

/** Lines to copy into a terminal or an editor. */
export function CodeBlock({ code, label }: { code: string; label: string }) {
  return (
    <div className="relative w-full rounded-md border border-hair bg-inset">
      <pre className="thin-scroll overflow-x-auto p-3 pe-10 font-mono text-xs whitespace-pre-wrap text-normal wrap-anywhere">
        {code}
      </pre>
      <CopyButton text={code} label={`Copy ${label}`} className="absolute top-1.5 right-1.5" />
    </div>
  )
}
