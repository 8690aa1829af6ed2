import { Chart } from '../../components/chart/chart.tsx'
import { type Panel, panelsOf } from './panels.ts'
import type { CurveSettings } from './search.ts'
import type { Step } from './steps.ts'

interface CurvesProps {
  steps: readonly Step[]
  xName: string
  /** Charts of one group share the cursor. */
  group: string
  settings: CurveSettings
  markX?: number | undefined
  /** Whether more steps may come. */
  isLive: boolean
  onPick?: (x: number) => void
}

const SECTIONS = [
  { id: 'progress', title: 'Progress' },
  { id: 'health', title: 'Health: is it on-policy?' },
  { id: 'other', title: 'Everything else' },
] as const

/** All charts of some steps; rarely used ones are closed at first. */
export function Curves({ steps, xName, group, settings, markX, isLive, onPick }: CurvesProps) {
  const panels = panelsOf(steps)
  const xs = steps.map(({ step }) => step)
  const chart = (panel: Panel) => (
    <Chart
      key={panel.id}
      title={panel.title}
      xName={xName}
      xs={xs}
      lines={panel.lines}
      group={group}
      smoothing={settings.smooth}
      scale={settings.scale}
      threshold={panel.threshold}
      note={panel.note}
      markX={markX}
      single={isLive ? 'dot' : 'number'}
      onPick={onPick}
      {...(panel.format !== undefined && { format: panel.format })}
    />
  )
  return (
    <div className="flex flex-col gap-4 p-4 max-md:p-3">
      {SECTIONS.map(({ id, title }) => (
        <CurveSection
          key={id}
          title={title}
          count={panels.filter(({ section }) => section === id).length}
          isFolded={id === 'other'}
        >
          {panels.filter(({ section }) => section === id).map(chart)}
        </CurveSection>
      ))}
    </div>
  )
}

interface CurveSectionProps {
  title: string
  count: number
  isFolded: boolean
  children: React.ReactNode
}

function CurveSection({ title, count, isFolded, children }: CurveSectionProps) {
  if (count === 0) return null
  const grid = (
    <div className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,21rem),1fr))] gap-3">{children}</div>
  )
  return isFolded ? (
    <details>
      <summary className="mb-2 cursor-pointer text-xs text-muted hover:text-strong">
        {title} ({count})
      </summary>
      {grid}
    </details>
  ) : (
    <section aria-label={title}>
      <h2 className="mb-2 text-xs font-strong text-muted">{title}</h2>
      {grid}
    </section>
  )
}
