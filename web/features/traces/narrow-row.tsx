import { formatCost, formatCount, formatDuration } from '../../components/format.ts'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import type { CallRow } from './call-row.ts'

/** A call in two lines, on a phone. */
export function NarrowRow({ row }: { row: CallRow }) {
  const facts = [
    formatDuration(row.latencyMs),
    row.tokens !== null && `${formatCount(row.tokens)} tokens`,
    row.cost !== null && formatCost(row.cost),
  ].filter((fact) => fact !== false)
  return (
    <span className="flex min-w-0 flex-col">
      <span className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate text-sm text-strong">{row.name}</span>
        {row.status !== 'ok' && <Status kind={row.status} word={row.statusWord} />}
      </span>
      <span className="tabular flex items-center gap-1.5 truncate text-xs text-muted">
        <Time iso={row.startedAt} />
        {facts.map((fact) => (
          <span key={fact}>· {fact}</span>
        ))}
      </span>
    </span>
  )
}
