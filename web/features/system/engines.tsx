import { useQuery } from '@tanstack/react-query'
import { analysisQuery, type Router, routerQuery } from '../../api/system.ts'
import { formatBytes, formatCount, formatDuration, formatNumber, MISSING } from '../../components/format.ts'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import { Badge, Status, type StatusKind } from '../../components/status.tsx'
import { Time } from '../../components/time.tsx'
import { MeterBar } from './meter-bar.tsx'

type Engine = Router['engines'][number]

const KINDS: Record<Engine['parts'][number]['state'], StatusKind> = {
  idle: 'pending',
  starting: 'running',
  ready: 'ok',
  asleep: 'pending',
  restarting: 'running',
  failed: 'error',
  stopping: 'pending',
  stopped: 'pending',
}

/** The processes behind each base model, what they are doing, and the models that they answer for. */
export function Engines() {
  const { data, error, refetch } = useQuery(routerQuery)
  if (error !== null && data === undefined)
    return <ErrorState title="The engines could not be asked" error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Skeleton className="h-32 w-full" />
  const { memory, requests } = data
  return (
    <div className="flex flex-col gap-4">
      {data.unavailable !== null && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-xs text-warn wrap-anywhere">
          {data.unavailable}
        </p>
      )}
      <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
        {memory.budget_bytes > 0 && (
          <MeterBar
            name="Memory, estimated"
            value={memory.used_bytes}
            max={memory.budget_bytes}
            format={formatBytes}
          />
        )}
        <MeterBar
          name="Requests being answered"
          value={requests.in_flight}
          max={requests.in_flight_max}
          format={formatCount}
        />
      </div>
      {data.engines.length === 0 ? (
        <EmptyState title="No engine has been used yet">
          <p>An engine starts with the first request or job for its base model.</p>
        </EmptyState>
      ) : (
        data.engines.map((engine) => <EngineCard key={engine.base_model} engine={engine} />)
      )}
      <Models router={data} />
    </div>
  )
}

function EngineCard({ engine }: { engine: Engine }) {
  return (
    <section aria-label={engine.base_model} className="rounded-md border border-hair bg-panel">
      <header className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-hair px-3 py-2 text-xs">
        <h3 className="font-strong text-strong">{engine.base_model}</h3>
        <span className="tabular text-muted">
          {formatCount(engine.answers)} answers in work
          {engine.answers_max !== null && ` of ${formatCount(engine.answers_max)}`}
        </span>
        <span className={engine.waiting > 0 ? 'tabular text-warn' : 'tabular text-muted'}>
          {formatCount(engine.waiting)} waiting
        </span>
      </header>
      <ul className="divide-y divide-hair/60">
        {engine.parts.map((part) => (
          <li key={part.name} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-1.5 text-xs">
            <span className="w-24 text-normal">{part.name.replace(` ${part.base_model}`, '')}</span>
            <Status kind={KINDS[part.state]} word={part.state} />
            <span className="text-muted">
              since <Time iso={part.since} />
            </span>
            <span className="tabular text-muted">{formatBytes(part.memory_bytes)}</span>
            <span className="tabular text-muted">{formatCount(part.users)} using it</span>
            {part.waiting_for !== null && (
              <span className="w-full text-warn wrap-anywhere">{part.waiting_for}</span>
            )}
            {part.last_error !== null && (
              <span className="w-full text-error wrap-anywhere">{part.last_error}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Models that are shown before one asks for all. */
const MODELS_SHOWN = 12

function Models({ router }: { router: Router }) {
  const { data: analysis } = useQuery(analysisQuery)
  const speeds = new Map((analysis?.models ?? []).map((model) => [model.id, model.speeds]))
  const rows = router.models.toSorted((a, b) => Number(b.loaded) - Number(a.loaded))
  const table = (shown: Router['models']) => (
    <div className="thin-scroll overflow-x-auto">
      <table className="tabular w-full min-w-120 text-xs">
        <thead className="text-2xs text-muted">
          <tr className="h-7 border-b border-hair text-end">
            <th className="text-start font-normal">Model</th>
            <th className="px-2 text-start font-normal">Weights</th>
            <th className="px-2 text-end font-normal">Step</th>
            <th className="px-2 text-end font-normal" title="Of one request, median">
              Tokens/s
            </th>
            <th className="px-2 text-end font-normal" title="Until the first token, median">
              First
            </th>
            <th className="ps-2 text-end font-normal" title="Whole answers, 95th percentile">
              p95
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((model) => {
            const speed = speeds.get(model.id)
            return (
              <tr key={model.id} className="h-7 border-b border-hair/60 text-end">
                <th scope="row" className="max-w-64 truncate text-start font-normal text-strong">
                  {model.id}
                </th>
                <td className="px-2 text-start">
                  {model.loaded_steps.length > 0 ? (
                    <span title={`Steps ${model.loaded_steps.join(', ')}`}>
                      <Badge tone="accent">
                        {model.loaded_steps.length === 1
                          ? `step ${model.loaded_steps[0]}`
                          : `${formatCount(model.loaded_steps.length)} steps`}{' '}
                        loaded
                      </Badge>
                    </span>
                  ) : (
                    <span className="text-muted">{model.loaded ? 'loaded' : 'on disk'}</span>
                  )}
                </td>
                <td className="px-2">{model.newest_step ?? MISSING}</td>
                <td className="px-2">{formatNumber(speed?.tokens_per_second?.p50)}</td>
                <td className="px-2">{formatDuration(speed?.time_to_first_token_ms?.p50)}</td>
                <td className="ps-2">{formatDuration(speed?.duration_ms.p95)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
  const rest = rows.length - MODELS_SHOWN
  return (
    <section aria-label="Models that are served">
      <h3 className="pb-1 text-xs font-strong text-muted">Models that are served</h3>
      {table(rows.slice(0, MODELS_SHOWN))}
      {rest > 0 && (
        <details className="pt-1">
          <summary className="cursor-pointer text-xs text-muted">{formatCount(rest)} more</summary>
          {table(rows.slice(MODELS_SHOWN))}
        </details>
      )}
    </section>
  )
}
