import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Line } from './line.ts'
import { aboveZero } from './log-scale.ts'
import { smoothed } from './smoothing.ts'
import { tickText } from './tick-text.ts'
import { unitOf } from './unit.ts'

export interface PlotProps {
  xs: readonly number[]
  lines: readonly Line[]
  /** Charts of one group share the cursor. */
  group: string
  /** 0 for none, below 1. */
  smoothing?: number
  scale?: 'linear' | 'log'
  /** A line across: values above it are worth a look. */
  threshold?: number | undefined
  /** x is marked, as the step that is looked at. */
  markX?: number | undefined
  onPick?: ((x: number) => void) | undefined
  /** Index of the point under the cursor; null when it has left. */
  onCursor: (index: number | null) => void
}

/** How faint the raw values are under the smoothed ones. */
const RAW_ALPHA = 0.28
const BAND_ALPHA = 0.14

/** Room for the labels of usual values, so that charts above each other are aligned, and between them and the chart. */
const AXIS_PX = 50
const GAP_PX = 4
/** The width of a digit, at most. */
const DIGIT_PX = 7

/** The chart itself: uPlot, which draws again when values, size or theme change and is never made anew for values. */
export function Plot(props: PlotProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  const { xs, lines, smoothing = 0, scale = 'linear', group, threshold, markX } = props
  const shape = JSON.stringify([
    lines.map(({ label, color, band }) => [label, color, band !== undefined]),
    smoothing > 0,
    scale,
    group,
  ])
  // A chart of another shape is another chart; values go into the one there is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the shape says what of the props matters here
  useEffect(() => {
    const element = host.current
    if (element === null) return
    const made = new UPlot(optionsOf(element, latest), dataOf(latest.current), element)
    plot.current = made
    const sizes = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: element.clientHeight }),
    )
    sizes.observe(element)
    const themes = new MutationObserver(() => made.redraw(false, true))
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      sizes.disconnect()
      themes.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [shape])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shape has made a new chart with these values
  useEffect(() => {
    plot.current?.setData(dataOf({ ...latest.current, xs, lines, smoothing }))
  }, [xs, lines, smoothing, shape])
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are drawn over the chart
  useEffect(() => plot.current?.redraw(false), [threshold, markX])
  return <div ref={host} aria-hidden className="absolute inset-0 overflow-hidden" />
}

/** Per line: low and high of its band, its raw values, and its smoothed ones, in their unit. */
function dataOf({
  xs,
  lines,
  smoothing = 0,
  scale = 'linear',
}: Pick<PlotProps, 'xs' | 'lines' | 'smoothing' | 'scale'>): UPlot.AlignedData {
  const rows = lines.flatMap(({ values, band }) => [
    ...(band === undefined ? [] : [band.low, band.high]),
    values,
    ...(smoothing > 0 ? [smoothed(xs, values, smoothing)] : []),
  ])
  const unit = unitOf(lines)
  const inUnits = unit === 1 ? rows : rows.map((row) => row.map((value) => value && value / unit))
  // Undrawn, such a value is a gap; given to the scale, it would be a spike.
  const drawn = scale === 'log' ? inUnits.map((row) => row.map(aboveZero)) : inUnits
  return [xs, ...drawn].map((row) => [...row]) as UPlot.AlignedData
}

const ink = (role: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${role}`).trim()

function optionsOf(element: HTMLElement, latest: React.RefObject<PlotProps>): UPlot.Options {
  const { lines, smoothing = 0, scale = 'linear', group } = latest.current
  const { series, bands } = seriesOf(lines, smoothing > 0)
  const axis: UPlot.Axis = {
    stroke: () => ink('muted'),
    font: '11px ui-sans-serif, system-ui, sans-serif',
    grid: { stroke: () => ink('hair'), width: 1 },
    ticks: { show: false },
    gap: GAP_PX,
  }
  return {
    width: element.clientWidth,
    height: element.clientHeight,
    padding: [8, 10, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: group, setSeries: false }, y: false, drag: { x: true, y: false } },
    scales: { x: { time: false }, y: scale === 'log' ? { distr: 3, log: 10 } : { range: paddedRange } },
    axes: [
      { ...axis, size: 22, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6] },
      {
        ...axis,
        size: (_plot, ticks) =>
          Math.max(AXIS_PX, ...(ticks ?? []).map((text) => text.length * DIGIT_PX + GAP_PX)),
        values: (_plot, ticks, _axis, _space, step) => {
          const unit = unitOf(latest.current.lines)
          return ticks.map((tick) =>
            tick == null ? '' : tickText(tick * unit, (scale === 'log' ? tick : step) * unit),
          )
        },
      },
    ],
    series: [{}, ...series],
    bands,
    hooks: {
      setCursor: [({ cursor }) => latest.current.onCursor(cursor.idx ?? null)],
      draw: [(plot) => drawMarks(plot, latest.current)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const x = plot.data[0][plot.cursor.idx ?? -1]
            if (x !== undefined) latest.current.onPick?.(x)
          }),
      ],
    },
  }
}

/** Values with some air around them; a flat curve lies in the middle of a range of its own size. */
function paddedRange(_plot: UPlot, min: number | null, max: number | null): UPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1]
  // What is a share more often than not, and says something by being 0.
  if (min === 0 && max === 0) return [-0.05, 1]
  const pad = max > min ? (max - min) * 0.08 : Math.abs(max) / 2
  return [min - pad, max + pad]
}

function seriesOf(lines: readonly Line[], isSmooth: boolean) {
  const series: UPlot.Series[] = []
  const bands: UPlot.Band[] = []
  for (const { label, color, band } of lines) {
    const stroke = () => ink(color)
    if (band !== undefined) {
      const first = series.length + 1
      series.push({ label: `${label} low`, width: 0, points: { show: false } })
      series.push({ label: `${label} high`, width: 0, points: { show: false } })
      bands.push({ series: [first + 1, first], fill: () => withAlpha(ink(color), BAND_ALPHA) })
    }
    const raw: UPlot.Series = { label, stroke, width: 1.5, points: { size: 4 } }
    if (isSmooth) {
      series.push({
        ...raw,
        width: 1,
        stroke: () => withAlpha(ink(color), RAW_ALPHA),
        points: { show: false },
      })
      series.push({ label: `${label}, smoothed`, stroke, width: 1.75, points: { show: false } })
    } else series.push(raw)
  }
  return { series, bands }
}

function withAlpha(color: string, alpha: number): string {
  return `color-mix(in oklch, ${color} ${alpha * 100}%, transparent)`
}

/** The limit, and the step that is looked at. */
function drawMarks(plot: UPlot, { lines, threshold, markX }: PlotProps): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.lineWidth = devicePixelRatio
  if (threshold !== undefined) {
    const y = Math.round(plot.valToPos(threshold / unitOf(lines), 'y', true))
    if (y > bbox.top && y < bbox.top + bbox.height) {
      ctx.strokeStyle = ink('warn')
      ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio])
      ctx.beginPath()
      ctx.moveTo(bbox.left, y)
      ctx.lineTo(bbox.left + bbox.width, y)
      ctx.stroke()
    }
  }
  if (markX !== undefined) {
    const x = Math.round(plot.valToPos(markX, 'x', true))
    ctx.setLineDash([])
    ctx.strokeStyle = withAlpha(ink('accent'), 0.6)
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}
