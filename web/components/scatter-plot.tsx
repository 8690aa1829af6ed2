import { type MouseEvent, type ReactNode, useState } from 'react'
import { rangeOf } from './spread.ts'

const HEIGHT = 280

/** Percent of width and height that stay free on each side, so that no dot is cut. */
const PAD = 5

/** A dot is meant from as many pixels away. */
const REACH_PX = 16

/** Equal points are moved apart by up to so many percent. */
const JITTER = 2.5

export interface ScatterPoint {
  id: string
  x: number
  y: number
}

interface ScatterPlotProps {
  points: readonly ScatterPoint[]
  /** Says in words what is drawn. */
  label: string
  xTitle: ReactNode
  yTitle: ReactNode
  formatX: (value: number) => string
  formatY: (value: number) => string
  /** `same`: both axes measure the same, so they share a range, and equal values lie on a line. */
  axes: 'same' | 'own'
  /** What is said below the plot of the dot under the pointer. */
  captionOf: (id: string) => ReactNode
  onPick: (id: string) => void
}

/** Points by two numbers. A click or a look goes to the nearest one. */
export function ScatterPlot(props: ScatterPlotProps) {
  const { points, label, axes, captionOf, onPick, formatX, formatY } = props
  const [near, setNear] = useState<string>()
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)]
  const rangeX = rangeOf(axes === 'same' ? [...xs, ...ys] : xs)
  const rangeY = axes === 'same' ? rangeX : rangeOf(ys)
  const dots = placed(points, rangeX, rangeY)
  const nearest = (event: MouseEvent<SVGSVGElement>): string | undefined => {
    const box = event.currentTarget.getBoundingClientRect()
    let found: { id: string; distance: number } | undefined
    for (const { id, left, top } of dots) {
      const distance = Math.hypot(
        event.clientX - box.left - (left / 100) * box.width,
        event.clientY - box.top - (top / 100) * box.height,
      )
      if (distance <= (found?.distance ?? REACH_PX)) found = { id, distance }
    }
    return found?.id
  }
  return (
    <figure className="flex min-w-0 flex-col gap-1 select-none">
      <p className="flex justify-between gap-2 text-xs text-muted">
        <span className="min-w-0 truncate">↑ {props.yTitle}</span>
        <span className="tabular shrink-0">
          {formatY(rangeY[0])} to {formatY(rangeY[1])}
        </span>
      </p>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same rows are in a table, which keys go through */}
      <svg
        role="img"
        aria-label={label}
        width="100%"
        height={HEIGHT}
        className={near === undefined ? 'rounded-md bg-inset' : 'cursor-pointer rounded-md bg-inset'}
        onMouseMove={(event) => setNear(nearest(event))}
        onMouseLeave={() => setNear(undefined)}
        onClick={(event) => {
          const id = nearest(event)
          if (id !== undefined) onPick(id)
        }}
      >
        {axes === 'same' && (
          <line
            x1={`${PAD}%`}
            y1={`${100 - PAD}%`}
            x2={`${100 - PAD}%`}
            y2={`${PAD}%`}
            stroke="var(--line)"
            strokeDasharray="3 4"
          />
        )}
        {dots.map(({ id, left, top }) => (
          <circle
            key={id}
            cx={`${left}%`}
            cy={`${top}%`}
            r={id === near ? 5 : 3.5}
            fill="var(--accent)"
            fillOpacity={id === near ? 1 : 0.45}
            stroke={id === near ? 'var(--strong)' : 'none'}
          />
        ))}
      </svg>
      <p className="flex justify-between gap-2 text-xs text-muted">
        <span className="tabular shrink-0">
          {formatX(rangeX[0])} to {formatX(rangeX[1])}
        </span>
        <span className="min-w-0 truncate">{props.xTitle} →</span>
      </p>
      <figcaption className="h-8 truncate text-xs text-normal">
        {near === undefined ? label : captionOf(near)}
      </figcaption>
    </figure>
  )
}

interface Dot {
  id: string
  /** Percent of the plot. */
  left: number
  top: number
}

/** Where each point is drawn; those that are equal lie around their place, each always at the same one. */
function placed(
  points: readonly ScatterPoint[],
  rangeX: readonly [number, number],
  rangeY: readonly [number, number],
): Dot[] {
  const met = new Map<string, number>()
  const share = (value: number, [min, max]: readonly [number, number]) =>
    PAD + ((value - min) / (max - min)) * (100 - 2 * PAD)
  return points.map(({ id, x, y }) => {
    const place = `${x} ${y}`
    const count = met.get(place) ?? 0
    met.set(place, count + 1)
    // A spiral by the golden angle fills a disk evenly, however many there are.
    const radius = Math.min(JITTER, 0.4 * Math.sqrt(count))
    const angle = count * 2.399963
    return {
      id,
      left: share(x, rangeX) + radius * Math.cos(angle),
      top: 100 - share(y, rangeY) + 1.6 * radius * Math.sin(angle),
    }
  })
}
