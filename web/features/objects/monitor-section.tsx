import { useQuery } from '@tanstack/react-query'
import { type MonitorState, monitorsQuery } from '../../api/monitors.ts'
import { formatCount } from '../../components/format.ts'
import { MonitorStatus } from '../../components/monitor-status.tsx'
import { StaleBanner } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'

/** Whether a monitor runs, why not, and what it has scored, of its newest version. */
export function MonitorSection({ project, name }: { project: string; name: string }) {
  const { data, error, refetch } = useQuery(monitorsQuery(project))
  const monitor = data?.find(({ object_id }) => object_id === name)
  if (error !== null && data === undefined)
    return <StaleBanner error={error} onRetry={() => void refetch()} />
  if (monitor === undefined) return null
  return (
    <section aria-label="Monitor" className="flex flex-col gap-1">
      <p className="flex flex-wrap items-center gap-x-3">
        <MonitorStatus monitor={monitor} />
        <span className="text-xs text-muted">
          {formatCount(monitor.scored)} scored, {formatCount(monitor.failed)} failed,{' '}
          {formatCount(monitor.waiting)} waiting
          {monitor.last_run_at !== null && (
            <>
              , last run <Time iso={monitor.last_run_at} />
            </>
          )}
        </span>
      </p>
      {monitor.is_active &&
        monitor.problems.map((problem) => (
          <p key={problem} className="text-error">
            {problem}
          </p>
        ))}
      {monitor.last_error !== null && <LastError monitor={monitor} />}
    </section>
  )
}

/** Shown as an error only where it is of the newest version, which may have repaired what an earlier one met. */
function LastError({ monitor }: { monitor: MonitorState }) {
  const { digest, last_error, last_error_at, last_error_digest } = monitor
  const isOfEarlier = last_error_digest !== null && last_error_digest !== digest
  return (
    <p className={last_error_digest === digest ? 'text-error' : 'text-muted'}>
      Last error{isOfEarlier && ', of an earlier version'}
      {last_error_at !== null && (
        <>
          , <Time iso={last_error_at} />
        </>
      )}
      : {last_error}
    </p>
  )
}
