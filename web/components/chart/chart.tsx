import { type ReactNode, Suspense, useState } from 'react'
import { classNames } from '../class-names.ts'
import { formatNumber } from '../format.ts'
import { lazyPart } from '../lazy-part.ts'
import { Skeleton } from '../states.tsx'
import { logScaleFor } from './log-scale.ts'
import type { PlotProps } from './plot.tsx'

const Plot = lazyPart(async () => (await import('./plot.tsx')).Plot)

interface ChartProps extends Omit<PlotProps, 'onCursor'> {
  title: string
  /** A warning or note for a person; `warn` when a limit is crossed. */
  note?: { text: string; tone: 'quiet' | 'warn' } | undefined
  /** What x counts. */
  xName: string
  format?: (value: number | null | undefined) => string
  /** What is left of a curve that ends with its first point: a dot, or the title row's number alone. */
  single?: 'dot' | 'number'
  actions?: ReactNode
}

/**
 * A line chart of fixed height. The title row tells the values under the cursor, or the newest ones; all charts of one
 * `group` share the cursor.
 */
export function Chart({
  title,
  note,
  xName,
  format = formatNumber,
  single = 'dot',
  actions,
  ...plot
}: ChartProps) {
  const [cursor, setCursor] = useState<number | null>(null)
  const { xs, lines } = plot
  const drawn = plot.scale === 'log' ? logScaleFor(lines) : { scale: 'linear' as const, note: '' }
  const newest = lines[0]?.values.findLastIndex((value) => value !== null) ?? -1
  const at = cursor !== null && cursor < xs.length ? cursor : newest
  const x = xs[at]
  const empty = emptyText(plot)
  const isNumber = single === 'number' && xs.length === 1
  return (
    <figure
      aria-label={title}
      className="flex min-w-0 flex-col gap-1 rounded-md border border-hair bg-panel p-2"
    >
      <figcaption className="flex h-6 min-w-0 items-center gap-2 px-1 text-xs">
        <span className="shrink-0 font-strong text-strong">{title}</span>
        {actions}
        <span className="tabular flex min-w-0 flex-1 items-center justify-end gap-2 truncate text-muted">
          {x !== undefined && lines.length === 1 && (
            <span className="text-strong">{format(lines[0]?.values[at])}</span>
          )}
          {x !== undefined && (
            <span className="text-2xs">
              {xName} {formatNumber(x)}
            </span>
          )}
        </span>
      </figcaption>
      <div style={{ height: isNumber ? 0 : PLOT_PX }} className="relative">
        {isNumber ? null : empty !== '' ? (
          <p className="flex h-full items-center justify-center text-xs text-muted">{empty}</p>
        ) : (
          <Suspense fallback={<Skeleton className="h-full w-full" />}>
            <Plot {...plot} scale={drawn.scale} onCursor={setCursor} />
          </Suspense>
        )}
        <p className="sr-only">{summaryOf({ title, xName, xs, lines, format })}</p>
      </div>
      {lines.length > 1 && (
        <ul className="tabular flex min-h-4 flex-wrap gap-x-3 px-1 text-2xs text-muted">
          {lines.map((line) => (
            <li key={line.label} className="flex items-center gap-1">
              <span className="h-0.5 w-3" style={{ background: `var(--${line.color})` }} aria-hidden />
              {line.label} <span className="text-strong">{format(line.values[at])}</span>
            </li>
          ))}
        </ul>
      )}
      {drawn.note !== '' && <p className="px-1 text-2xs text-warn">{drawn.note}</p>}
      {note !== undefined && (
        <p
          className={classNames(
            'min-h-4 rounded-sm px-1 text-2xs',
            note.tone === 'warn' ? 'bg-warn-soft text-warn' : 'text-muted',
          )}
        >
          {note.text}
        </p>
      )}
    </figure>
  )
}

const PLOT_PX = 150

/** Why there is nothing to draw; empty where there is something. */
function emptyText({ xs, lines }: Pick<ChartProps, 'xs' | 'lines'>): string {
  if (xs.length === 0) return 'No values yet'
  // What is no finite number comes as null.
  return lines.some(({ values }) => values.some((value) => value !== null)) ? '' : 'No finite value'
}

/** The alternative text of the picture. */
function summaryOf({
  title,
  xName,
  xs,
  lines,
  format,
}: Pick<ChartProps, 'title' | 'xName' | 'xs' | 'lines'> & {
  format: (value: number | null | undefined) => string
}) {
  const [first, last] = [xs[0], xs.at(-1)]
  if (first === undefined || last === undefined) return `${title}: no values yet.`
  if (emptyText({ xs, lines }) !== '') return `${title}: no finite value.`
  const parts = lines.map(({ label, values }) => {
    const known = values.filter((value) => value !== null)
    return `${label} from ${format(known[0])} to ${format(known.at(-1))}`
  })
  return `${title} over ${xName} ${formatNumber(first)} to ${formatNumber(last)}: ${parts.join('; ')}.`
}
