import type { ReactNode } from 'react'

interface SmallPlotProps {
  /** Says in words what is drawn. */
  label: string
  /** Pixels, which are also the units of what is drawn. */
  width: number
  height: number
  children: ReactNode
}

/** The frame of a drawing that is as small as a word. */
export function SmallPlot({ label, width, height, children }: SmallPlotProps) {
  return (
    <svg
      role="img"
      aria-label={label}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="shrink-0"
    >
      {children}
    </svg>
  )
}

interface SparkProps {
  values: readonly number[]
  label: string
  width?: number
  height?: number
}

/** A line of values without axes; `label` says in words what it shows. */
export function Sparkline({ values, label, width = 96, height = 20 }: SparkProps) {
  const max = Math.max(...values, 1e-9)
  const min = Math.min(...values, 0)
  const x = (index: number) => (values.length < 2 ? 0 : (index / (values.length - 1)) * width)
  const y = (value: number) => height - 1 - ((value - min) / (max - min || 1)) * (height - 2)
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  return (
    <SmallPlot label={label} width={width} height={height}>
      <polyline
        points={points}
        fill="none"
        stroke="var(--accent)"
        strokeWidth="1.25"
        strokeLinejoin="round"
      />
    </SmallPlot>
  )
}

/** Small upright bars: one a bucket. */
export function SparkBars({ values, label, width = 96, height = 20 }: SparkProps) {
  const max = Math.max(...values, 1)
  const step = width / Math.max(values.length, 1)
  return (
    <SmallPlot label={label} width={width} height={height}>
      {values.map((value, index) => {
        const tall = value === 0 ? 0 : Math.max(1, (value / max) * height)
        return (
          <rect
            // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
            key={index}
            x={index * step}
            y={height - tall}
            width={Math.max(step - 1, 0.5)}
            height={tall}
            fill="var(--accent)"
            opacity="0.75"
          />
        )
      })}
    </SmallPlot>
  )
}

/** A share from 0 to 1 as a bar, for instance of a score or of work done. */
export function ShareBar({ share, label }: { share: number; label: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <span
      role="img"
      aria-label={label}
      className="inline-block h-1.5 w-14 overflow-hidden rounded-full bg-inset align-middle"
    >
      <span className="block h-full bg-accent" style={{ width: `${percent}%` }} />
    </span>
  )
}
