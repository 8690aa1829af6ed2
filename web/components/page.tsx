import type { ReactNode } from 'react'

interface PageProps {
  title: ReactNode
  /** The name of the browser's tab, where the title is more than a text. */
  tab?: string
  /** At the end of the title row. */
  actions?: ReactNode
  /** A second row, for what changes what is shown. */
  toolbar?: ReactNode
  /** Fills what is left; a part of it scrolls, the page does not. */
  children?: ReactNode
}

/** The frame of every page: title row, toolbar, content. */
export function Page({ title, tab, actions, toolbar, children }: PageProps) {
  const name = tab ?? (typeof title === 'string' ? title : undefined)
  return (
    <div className="flex h-full min-h-0 min-w-0 flex-col">
      {name !== undefined && <title>{`${name} · Heddle`}</title>}
      <header className="flex h-11 shrink-0 items-center justify-between gap-3 border-b border-hair px-4 max-md:px-3 coarse:h-13">
        <h1 className="min-w-0 truncate text-base font-strong text-strong">{title}</h1>
        <div className="flex shrink-0 items-center gap-1.5">{actions}</div>
      </header>
      {toolbar !== undefined && (
        <div className="flex min-h-9 shrink-0 flex-wrap items-center gap-1.5 border-b border-hair px-4 py-1.5 max-md:px-3">
          {toolbar}
        </div>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">{children}</div>
    </div>
  )
}
