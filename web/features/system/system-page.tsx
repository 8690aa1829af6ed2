import { useQueries, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { meQuery } from '../../api/accounts.ts'
import { isSignedIn } from '../../api/key.ts'
import {
  analysisQuery,
  diskQuery,
  engineLogsQuery,
  type Health,
  hardwareQuery,
  healthQuery,
  metricsTextQuery,
  routerQuery,
  versionsQuery,
} from '../../api/system.ts'
import { formatBytes, formatCount, formatDuration } from '../../components/format.ts'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState, Skeleton, StaleBanner } from '../../components/states.tsx'
import { Status } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { Disk } from './disk.tsx'
import { Engines } from './engines.tsx'
import { Logs } from './logs.tsx'
import { Machine } from './machine.tsx'
import { metricValue, requestsOf, type Sample, samplesOf, totalOf, writesOf } from './prometheus.ts'
import { WritesBar } from './writes-bar.tsx'

/** What the sections need before they know their heights. */
const SHOWN = [
  healthQuery,
  metricsTextQuery,
  routerQuery,
  analysisQuery,
  hardwareQuery,
  versionsQuery,
  diskQuery,
  engineLogsQuery,
] as const

/** The state of the server, for those who may see it. */
export function SystemPage() {
  const { data: me } = useQuery({ ...meQuery, enabled: isSignedIn() })
  if (!isSignedIn() || me?.is_operator) return <ServerState />
  return (
    <Page title="System">
      {me === undefined ? (
        <Skeleton className="m-4 h-64" />
      ) : (
        <EmptyState title="Operators see the state of this server">
          <p>Its stores, engines, disk and logs concern all teams, so that members of one do not see them.</p>
        </EmptyState>
      )}
    </Page>
  )
}

/** Health of the server, outcomes of its writes, and its engines. */
function ServerState() {
  const health = useQuery(healthQuery)
  const metrics = useQuery(metricsTextQuery)
  // Sections of unknown height stand below one another, so all of them come at once.
  const isWaiting = useQueries({ queries: SHOWN }).some(({ isPending }) => isPending)
  const samples = useMemo(() => samplesOf(metrics.data ?? ''), [metrics.data])
  const started = metricValue(samples, 'process_start_time_seconds')
  return (
    <Page
      title={
        <span className="flex items-center gap-3">
          System <HealthWord health={health.data} error={health.error} />
        </span>
      }
      tab="System"
      actions={
        started !== undefined && (
          <span className="text-xs text-muted">
            started <Time iso={new Date(started * 1000).toISOString()} />
          </span>
        )
      }
    >
      {metrics.error !== null && metrics.data !== undefined && (
        <StaleBanner error={metrics.error} onRetry={() => void metrics.refetch()} />
      )}
      {isWaiting && <Skeleton className="m-4 h-64" />}
      <div className="thin-scroll min-h-0 flex-1 overflow-y-auto" hidden={isWaiting}>
        <div className="mx-auto grid max-w-7xl grid-cols-2 gap-x-8 gap-y-6 p-4 max-lg:grid-cols-1 max-md:p-3">
          <div className="flex min-w-0 flex-col gap-6">
            <Section title="Rows for the trace database">
              {metrics.error !== null && metrics.data === undefined ? (
                <ErrorState
                  title="The counters could not be read"
                  error={metrics.error}
                  onRetry={() => void metrics.refetch()}
                />
              ) : metrics.isPending ? (
                <Skeleton className="h-28 w-full" />
              ) : (
                <Rows samples={samples} />
              )}
            </Section>
            <Section title="Stores">
              {health.data === undefined ? (
                <Skeleton className="h-20 w-full" />
              ) : (
                <Stores health={health.data} />
              )}
            </Section>
            <Section title="Server process">
              {metrics.isPending ? <Skeleton className="h-40 w-full" /> : <Process samples={samples} />}
            </Section>
          </div>
          <div className="flex min-w-0 flex-col gap-6">
            <Section title="Engines">
              <Engines />
            </Section>
            <Section title="Disk">
              <Disk />
            </Section>
            <Section title="Machine">
              <Machine />
            </Section>
          </div>
          <div className="col-span-full min-w-0">
            <Section title="Logs of the engines">
              <Logs />
            </Section>
          </div>
        </div>
      </div>
    </Page>
  )
}

function Section({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-2">
      <h2 className="text-sm font-strong text-strong">{title}</h2>
      {children}
    </section>
  )
}

function HealthWord({ health, error }: { health: Health | undefined; error: Error | null }) {
  if (error !== null) return <Status kind="error" word="cannot be reached" />
  if (health === undefined) return null
  return (
    <Status
      kind={health.status === 'ok' ? 'ok' : 'error'}
      word={health.status === 'ok' ? 'all stores answer' : (health.reason ?? 'failing')}
    />
  )
}

function Rows({ samples }: { samples: readonly Sample[] }) {
  const tables = writesOf(samples)
  if (tables.length === 0)
    return <p className="text-xs text-muted">Nothing has been written since the server started.</p>
  return (
    <>
      <WritesBar writes={totalOf(tables)} />
      <table className="tabular text-xs">
        <thead className="text-2xs text-muted">
          <tr className="h-7 border-b border-hair">
            <th className="text-start font-normal">Table</th>
            {['Accepted', 'On disk', 'Waiting', 'Rejected'].map((name) => (
              <th key={name} className="ps-2 text-end font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tables.map((row) => (
            <tr key={row.table} className="h-7 border-b border-hair/60 text-end">
              <th scope="row" className="truncate text-start font-normal text-strong">
                {row.table}
              </th>
              <td className="ps-2">{formatCount(row.accepted)}</td>
              <td className="ps-2">{formatCount(row.applied)}</td>
              <td className={row.pending > 0 ? 'ps-2 text-warn' : 'ps-2 text-muted'}>
                {formatCount(row.pending)}
              </td>
              <td className={row.rejected > 0 ? 'ps-2 text-error' : 'ps-2 text-muted'}>
                {formatCount(row.rejected)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="text-2xs text-muted">
        Counted since the server started. What was rejected was told to the client that sent it, with the
        reason.
      </p>
    </>
  )
}

function Stores({ health }: { health: Health }) {
  const names: Record<keyof Health['stores'], string> = {
    trace_db: 'Trace database',
    control_db: 'Control database',
    blobs: 'Files',
  }
  return (
    <ul className="divide-y divide-hair/60 text-xs">
      {(Object.keys(names) as (keyof Health['stores'])[]).map((key) => {
        const store = health.stores[key]
        return (
          <li key={key} className="flex min-h-7 items-center gap-3">
            <span className="w-36 text-normal">{names[key]}</span>
            <Status kind={store.ok ? 'ok' : 'error'} word={store.ok ? 'answers' : 'fails'} />
            {store.error !== null && <span className="text-error wrap-anywhere">{store.error}</span>}
            {store.warning !== undefined && <span className="text-warn wrap-anywhere">{store.warning}</span>}
          </li>
        )
      })}
    </ul>
  )
}

/** Operations that are listed: most of the work is in a few. */
const OPERATIONS_SHOWN = 10

function Process({ samples }: { samples: readonly Sample[] }) {
  const facts = [
    ['Memory', formatBytes(metricValue(samples, 'process_resident_memory_bytes'))],
    ['Heap in use', formatBytes(metricValue(samples, 'nodejs_heap_size_used_bytes'))],
    [
      'Event loop lag',
      formatDuration((metricValue(samples, 'nodejs_eventloop_lag_seconds') ?? Number.NaN) * 1000),
    ],
    ['Open files', formatCount(metricValue(samples, 'process_open_fds'))],
  ] as const
  return (
    <>
      <dl className="tabular flex flex-wrap gap-x-6 gap-y-1 text-xs">
        {facts.map(([name, value]) => (
          <div key={name} className="flex gap-1.5">
            <dt className="text-muted">{name}</dt>
            <dd className="text-strong">{value}</dd>
          </div>
        ))}
      </dl>
      {/* Room for all operations that are ever listed. */}
      <div className="min-h-67">
        <table className="tabular w-full text-xs">
          <thead className="text-2xs text-muted">
            <tr className="h-7 border-b border-hair">
              <th className="text-start font-normal">Operation</th>
              <th className="ps-2 text-end font-normal">Requests</th>
              <th className="ps-2 text-end font-normal">Failed</th>
              <th className="ps-2 text-end font-normal">Mean</th>
            </tr>
          </thead>
          <tbody>
            {requestsOf(samples)
              .slice(0, OPERATIONS_SHOWN)
              .map(({ operation, count, failed, meanMs }) => (
                <tr key={operation} className="h-6 border-b border-hair/60 text-end">
                  <th scope="row" className="truncate text-start font-normal text-strong">
                    {operation}
                  </th>
                  <td className="ps-2">{formatCount(count)}</td>
                  <td className={failed > 0 ? 'ps-2 text-error' : 'ps-2 text-muted'}>
                    {formatCount(failed)}
                  </td>
                  <td className="ps-2">{formatDuration(meanMs)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
