import type { RunAlert } from '../../api/runs.ts'
import { Badge } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'

const TONES = { INFO: 'quiet', WARN: 'warn', ERROR: 'error' } as const

/** Alerts that a run sent with `run.alert`, newest first; nothing where there are none. */
export function RunAlerts({ alerts }: { alerts: readonly RunAlert[] }) {
  if (alerts.length === 0) return null
  return (
    <section aria-label="Alerts" className="flex flex-col gap-1 px-4 pt-4">
      <h2 className="text-xs font-strong text-muted">Alerts</h2>
      <ul className="thin-scroll flex max-h-48 flex-col gap-1 overflow-y-auto">
        {alerts.map(({ id, title, text, severity, created_at }) => (
          <li key={id} className="flex flex-wrap items-baseline gap-x-2">
            <Badge tone={TONES[severity]}>{severity}</Badge>
            <span className="text-strong">{title}</span>
            <span className="min-w-0 break-words">{text}</span>
            <span className="text-xs text-muted">
              <Time iso={created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
