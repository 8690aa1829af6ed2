import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { isMissing } from '../../api/client.ts'
import type { ProjectName } from '../../api/project.ts'
import { requestGroups, runKeysQuery, runSeriesQuery } from '../../api/runs.ts'
import { Chart } from '../../components/chart/chart.tsx'
import { Input } from '../../components/input.tsx'
import { EmptyState, ErrorState, Skeleton } from '../../components/states.tsx'
import type { CurveSettings } from './search.ts'

interface RunCurvesProps {
  name: ProjectName
  run: string
  isLive: boolean
  settings: CurveSettings
  /** Shown where there is no such run. */
  missing?: ReactNode
}

/** Charts that are open at first: those behind them are one click away and cost nothing until then. */
const SECTIONS_OPEN = 1

/** Every number that a run logged, as curves by prefix; only open sections are loaded. */
export function RunCurves({ name, run, isLive, settings, missing }: RunCurvesProps) {
  const { data, error, refetch } = useQuery(runKeysQuery(name, run, { isLive }))
  const [wanted, setWanted] = useState('')
  if (isMissing(error)) return <EmptyState title="No run has logged anything here">{missing}</EmptyState>
  if (error !== null && data === undefined)
    return <ErrorState title="The metrics could not be loaded" error={error} onRetry={() => void refetch()} />
  if (data?.length === 0)
    return (
      <EmptyState title="This run has logged no numbers">
        <p>Curves come from `run.log(…)`, as soon as the client sends it.</p>
      </EmptyState>
    )
  const sections = Map.groupBy(data ?? [], (key) => (key.includes('/') ? (key.split('/')[0] ?? '') : ''))
  const found = [...sections].filter(([, keys]) => keys.some((key) => key.includes(wanted)))
  return (
    <div className="flex flex-col gap-3 p-4 max-md:p-3">
      <Input
        label="Find a metric"
        placeholder="Find a metric"
        value={wanted}
        onValueChange={setWanted}
        className="w-64 max-w-full"
      />
      {data === undefined && <Skeleton className="h-48 w-full" />}
      {found.map(([prefix, keys], index) => (
        <Section
          key={prefix}
          title={prefix === '' ? 'Metrics' : prefix}
          count={keys.filter((key) => key.includes(wanted)).length}
          isOpen={index < SECTIONS_OPEN || wanted !== ''}
        >
          {requestGroups(keys).flatMap((group) =>
            group
              .filter((key) => key.includes(wanted))
              .map((key) => (
                <RunChart
                  key={key}
                  name={name}
                  run={run}
                  isLive={isLive}
                  settings={settings}
                  metric={key}
                  group={group}
                />
              )),
          )}
        </Section>
      ))}
    </div>
  )
}

interface SectionProps {
  title: string
  count: number
  isOpen: boolean
  children: React.ReactNode
}

function Section({ title, count, isOpen, children }: SectionProps) {
  const [open, setOpen] = useState(isOpen)
  return (
    <details open={open || isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="mb-2 cursor-pointer text-xs text-muted hover:text-strong">
        {title} ({count})
      </summary>
      {(open || isOpen) && (
        <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,21rem),1fr))] gap-3">{children}</div>
      )}
    </details>
  )
}

interface RunChartProps extends Omit<RunCurvesProps, 'missing'> {
  metric: string
  /** The metrics that are asked for together with it. */
  group: readonly string[]
}

function RunChart({ name, run, isLive, settings, metric, group }: RunChartProps) {
  const { data: curve, error } = useQuery({
    ...runSeriesQuery(name, run, { keys: group, isLive }),
    select: (curves) => curves.find(({ key }) => key === metric),
  })
  const points = curve?.points ?? []
  return (
    <Chart
      title={metric}
      xName="step"
      xs={points.map(({ step }) => step)}
      lines={[{ label: metric, color: 'accent', values: points.map(({ value }) => value) }]}
      group={`run ${run}`}
      smoothing={settings.smooth}
      scale={settings.scale}
      note={
        error !== null
          ? { text: error.message, tone: 'warn' }
          : curve?.has_more
            ? { text: 'The lowest and highest values of each stretch of steps.', tone: 'quiet' }
            : undefined
      }
    />
  )
}
