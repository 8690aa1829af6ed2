import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import {
  type CallsFilter,
  type CallsRequest,
  callBuckets,
  type StatsBucket,
  streamCalls,
} from '../../api/calls.ts'
import { classNames } from '../../components/class-names.ts'
import { formatCount, formatDate } from '../../components/format.ts'
import type { ChangeSearch, TracesSearch } from './search.ts'
import { rangeOf, type TimeSpan } from './time-range.ts'
import { filterOf, operationsOf, type Traces } from './use-traces.ts'

/** Bars: more are thinner than they can be told apart. */
const BARS_MAX = 96
/** The API counts no longer range than this. */
const RANGE_DAYS_MAX = 31
const RANGE_MS_MAX = RANGE_DAYS_MAX * 86_400_000
const CUT = `only the last ${RANGE_DAYS_MAX} days`
const GRANULARITIES = [1, 5, 10, 30, 60, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

interface HistogramProps {
  search: TracesSearch
  change: ChangeSearch
  project: string
  traces: Traces
}

interface Bar {
  from: number
  to: number
  ok: number
  errors: number
}

/** When calls started, of which those that failed stand at the bottom; drag over it to look at that time. */
export function Histogram({ search, change, project, traces }: HistogramProps) {
  const { from } = traces.span
  // A range may end long after all calls, and only its last days are counted.
  const to = Math.min(traces.span.to, traces.latest)
  const filter = filterOf(search)
  const operations = operationsOf(search)
  const query = operations.length === 0 ? undefined : { $expr: { $and: operations } }
  const { data, isError } = useQuery({
    queryKey: ['calls', project, 'histogram', filter, query, from, to],
    enabled: !traces.isPending,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => readBars(project, { from, to, filter, query, signal }),
  })
  const bars = data?.bars ?? []
  const total = bars.reduce((sum, bar) => sum + bar.ok + bar.errors, 0)
  const errors = bars.reduce((sum, bar) => sum + bar.errors, 0)
  return (
    <div className="relative h-14 shrink-0 border-b border-hair px-4 pt-1.5 max-md:px-3">
      {isError && <p className="text-2xs text-muted">What matches could not be counted over time</p>}
      {!isError && bars.length > 0 && (
        <Bars
          bars={bars}
          isCut={data?.isCut ?? false}
          label={`Calls over time${data?.isCut ? `, ${CUT}` : ''}: ${total.toLocaleString('en')} started, ${errors.toLocaleString('en')} failed`}
          onRange={(from, to) => change({ range: rangeOf(from, to) })}
        />
      )}
    </div>
  )
}

interface BarsProps extends Histogrammed {
  label: string
  onRange: (from: number, to: number) => void
}

function Bars({ bars, isCut, label, onRange }: BarsProps) {
  const [brush, setBrush] = useState<{ first: number; last: number }>()
  const [hovered, setHovered] = useState<number>()
  const box = useRef<HTMLDivElement>(null)
  const max = Math.max(1, ...bars.map(({ ok, errors }) => ok + errors))
  const at = (clientX: number) => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {}
    return Math.min(bars.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bars.length)))
  }
  const isIn = (index: number) =>
    brush !== undefined &&
    index >= Math.min(brush.first, brush.last) &&
    index <= Math.max(brush.first, brush.last)
  const shown = hovered === undefined ? undefined : bars[hovered]
  const from = bars[0]?.from ?? 0
  const to = bars.at(-1)?.to ?? 0
  return (
    <>
      <div
        ref={box}
        role="img"
        aria-label={label}
        className="flex h-8 cursor-crosshair touch-pan-y items-end select-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId)
          setBrush({ first: at(event.clientX), last: at(event.clientX) })
        }}
        onPointerMove={(event) => {
          setHovered(at(event.clientX))
          if (brush !== undefined) setBrush({ ...brush, last: at(event.clientX) })
        }}
        onPointerLeave={() => setHovered(undefined)}
        onPointerUp={() => {
          const first = bars[Math.min(brush?.first ?? 0, brush?.last ?? 0)]
          const last = bars[Math.max(brush?.first ?? 0, brush?.last ?? 0)]
          if (brush !== undefined && first !== undefined && last !== undefined) onRange(first.from, last.to)
          setBrush(undefined)
        }}
        onPointerCancel={() => setBrush(undefined)}
      >
        {bars.map((bar, index) => (
          <div
            key={bar.from}
            className={classNames(
              'flex h-full min-w-0 flex-1 flex-col justify-end px-[0.5px] hover:bg-hover',
              isIn(index) && 'bg-selected',
            )}
          >
            {bar.ok > 0 && (
              <div className="min-h-px bg-ok/55" style={{ height: `${(bar.ok / max) * 100}%` }} />
            )}
            {bar.errors > 0 && (
              <div className="min-h-0.5 bg-error" style={{ height: `${(bar.errors / max) * 100}%` }} />
            )}
          </div>
        ))}
      </div>
      <div aria-hidden className="tabular flex justify-between pt-0.5 text-2xs text-muted">
        <span>
          {formatDate(from)}
          {isCut && <span className="text-warn"> · {CUT}</span>}
        </span>
        {shown !== undefined && (
          <span className="text-normal">
            {formatDate(shown.from)}: {formatCount(shown.ok + shown.errors)} calls
            {shown.errors > 0 && `, ${formatCount(shown.errors)} failed`}
          </span>
        )}
        <span>{formatDate(to)}</span>
      </div>
    </>
  )
}

/** Bars of a span. */
interface Histogrammed {
  bars: readonly Bar[]
  /** Whether the span begins before the first of them. */
  isCut: boolean
}

interface Counted extends Pick<TimeSpan, 'from' | 'to'> {
  filter: CallsFilter
  query: CallsRequest['query']
  signal: AbortSignal
}

async function readBars(project: string, counted: Counted): Promise<Histogrammed> {
  const { to, filter, query, signal } = counted
  const oldest = counted.from ?? (await oldestStart(project, { filter, signal })) ?? to
  if (oldest > to) return { bars: [], isCut: false }
  const from = Math.max(oldest, to - RANGE_MS_MAX)
  const seconds = Math.max(1, (to - from) / 1000)
  const granularity = GRANULARITIES.find((each) => seconds / each <= BARS_MAX) ?? 86_400
  const { call_buckets } = await callBuckets(
    project,
    { start: new Date(from).toISOString(), end: new Date(to).toISOString(), granularity, filter, query },
    { signal },
  )
  return { bars: call_buckets.map((bucket) => barOf(bucket, granularity)), isCut: from > oldest }
}

function barOf(bucket: StatsBucket, granularity: number): Bar {
  const from = Date.parse(bucket.timestamp)
  const errors = Number(bucket['sum_error_count'] ?? 0)
  return { from, to: from + granularity * 1000, ok: Math.max(0, bucket.count - errors), errors }
}

async function oldestStart(
  project: string,
  { filter, signal }: Pick<Counted, 'filter' | 'signal'>,
): Promise<number | undefined> {
  const sort_by = [{ field: 'started_at', direction: 'asc' as const }]
  for await (const call of streamCalls(project, { filter, limit: 1, columns: ['id'], sort_by }, { signal }))
    return Date.parse(call.started_at)
  return undefined
}
