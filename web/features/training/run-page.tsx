import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { isMissing } from '../../api/client.ts'
import type { ProjectName } from '../../api/project.ts'
import { runQuery } from '../../api/runs.ts'
import type { Json } from '../../api/wire.ts'
import { JsonView } from '../../components/json-view/json-view.tsx'
import { Page } from '../../components/page.tsx'
import { EmptyState, ErrorState } from '../../components/states.tsx'
import { Time } from '../../components/time.tsx'
import { CurveControls } from './curve-controls.tsx'
import { RunAlerts } from './run-alerts.tsx'
import { RunCurves } from './run-curves.tsx'
import { RunState } from './run-state.tsx'
import type { CurveSettings } from './search.ts'

interface RunPageProps {
  name: ProjectName
  run: string
  settings: CurveSettings
  onSettings: (change: Partial<CurveSettings>, how: 'push' | 'replace') => void
}

/** One run of `wandb.init`: its metrics and its config. */
export function RunPage({ name, run, settings, onSettings }: RunPageProps) {
  const { data, error, refetch } = useQuery(runQuery(name, run))
  return (
    <Page
      title={
        <span className="flex items-center gap-2">
          <Link
            to="/$entity/$project/training"
            params={name}
            search={{ view: 'runs' }}
            className="text-muted hover:text-strong"
          >
            Runs
          </Link>
          <span className="text-muted">/</span>
          <span className="truncate">{data?.display_name || run}</span>
          {data !== undefined && <RunState state={data.state} />}
        </span>
      }
      tab={`Run ${data?.display_name || run}`}
      toolbar={
        <>
          <CurveControls settings={settings} onChange={onSettings} />
          {data !== undefined && (
            <span className="ms-auto text-xs text-muted">
              started <Time iso={data.created_at} />
            </span>
          )}
        </>
      }
    >
      {isMissing(error) ? (
        <EmptyState title="There is no such run">
          <p>It may have been deleted. The list of runs shows those that are there.</p>
        </EmptyState>
      ) : error !== null && data === undefined ? (
        <ErrorState title="The run could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="thin-scroll min-h-0 flex-1 overflow-y-auto">
          {data !== undefined && <RunAlerts alerts={data.alerts} />}
          <RunCurves name={name} run={run} isLive={data?.state === 'running'} settings={settings} />
          {data !== undefined && (
            <div className="flex flex-col gap-3 px-4 pb-4">
              <JsonView label="Config" value={jsonOf(data.config)} root={['config']} maxHeight={320} />
              <JsonView label="Summary" value={jsonOf(data.summary)} root={['summary']} maxHeight={320} />
            </div>
          )}
        </div>
      )}
    </Page>
  )
}

/** What came as JSON is JSON. */
function jsonOf(value: Record<string, unknown>): Json {
  return value as Json
}
