import { useEffect, useState } from 'react'
import { serverNow } from '../../api/server-clock.ts'
import { isOpen, type Job } from '../../api/training.ts'
import { ShareBar } from '../../components/bars.tsx'
import { classNames } from '../../components/class-names.ts'
import { formatDuration, formatShare, MISSING } from '../../components/format.ts'
import { jobWords } from './job-state.tsx'

const TICK_MS = 1000

/** The states that a job goes through, with the time in each; the current one counts on. */
export function JobPhases({ job }: { job: Job }) {
  const now = useNow(isOpen(job))
  const created = Date.parse(job.created_at)
  const started = job.started_at === null ? null : Date.parse(job.started_at)
  const ended = job.ended_at === null ? null : Date.parse(job.ended_at)
  const running = started === null ? null : Math.max(0, (ended ?? now) - started)
  const { progress } = job
  const share = progress != null && progress.total > 0 ? progress.done / progress.total : null
  return (
    <ol className="flex flex-wrap items-stretch gap-2">
      <Phase
        name="queued"
        ms={Math.max(0, (started ?? ended ?? now) - created)}
        isCurrent={job.state === 'queued'}
        detail={job.state === 'queued' ? jobWords(job) : undefined}
      />
      <Phase
        name="running"
        ms={running}
        isCurrent={job.state === 'running'}
        detail={
          share === null ? (
            progress?.phase
          ) : (
            <>
              {jobWords(job)}{' '}
              <ShareBar share={share} label={`${formatShare(share)} of ${progress?.phase ?? ''}`} />
              {started !== null && share > 0 && ` about ${formatDuration(leftOf(now - started, share))} left`}
            </>
          )
        }
      />
      <Phase
        name={isOpen(job) ? 'ended' : job.state}
        ms={null}
        isCurrent={!isOpen(job)}
        detail={
          job.checkpoint_step === null
            ? isOpen(job)
              ? undefined
              : 'no step came of it'
            : `step ${job.checkpoint_step}`
        }
      />
    </ol>
  )
}

function leftOf(ms: number, share: number): number {
  return (ms / share) * (1 - share)
}

interface PhaseProps {
  name: string
  ms: number | null
  isCurrent: boolean
  detail: React.ReactNode
}

function Phase({ name, ms, isCurrent, detail }: PhaseProps) {
  return (
    <li
      aria-current={isCurrent ? 'step' : undefined}
      className={classNames(
        'flex min-w-36 flex-col rounded-md border px-3 py-1.5',
        isCurrent ? 'border-focus bg-selected' : 'border-hair bg-panel',
      )}
    >
      <span className="text-xs font-strong text-strong">{name}</span>
      <span className="tabular min-h-4 text-xs text-muted">
        {ms === null ? (detail ?? MISSING) : formatDuration(ms)}
      </span>
      {ms !== null && detail !== undefined && <span className="tabular text-2xs text-muted">{detail}</span>}
    </li>
  )
}

/** The time, by the second while something runs. */
function useNow(isTicking: boolean): number {
  const [now, setNow] = useState(serverNow)
  useEffect(() => {
    if (!isTicking) return
    const timer = setInterval(() => setNow(serverNow()), TICK_MS)
    return () => clearInterval(timer)
  }, [isTicking])
  return now
}
