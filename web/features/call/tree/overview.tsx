import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { OpKind } from '../../../api/op-kinds.ts'
import { formatCount, formatDuration } from '../../../components/format.ts'
import { KINDS, kindOf } from './op-kind.ts'
import type { TimeView } from './time-axis.ts'
import type { TraceTree } from './trace-tree.ts'
import type { TreeView } from './use-tree-view.ts'

const HEIGHT_PX = 48
/** What lies deeper shares the last lane. */
const LANES = 6
const LANE_PX = HEIGHT_PX / LANES
/** A shorter drag was a click. */
const BRUSH_SHARE_MIN = 0.004

/** The whole trace on one strip, a lane a level; drag over it to look at that time, twice a click for all of it. */
export function Overview({ shown }: { shown: TreeView }) {
  const { tree, whole, view, isZoomed, setView, place } = shown
  const box = useRef<HTMLDivElement>(null)
  const [brush, setBrush] = useState<TimeView>()
  const at = (event: PointerEvent) => {
    const { left = 0, width = 1 } = box.current?.getBoundingClientRect() ?? {}
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width))
    return whole.from + share * (whole.to - whole.from)
  }
  const brushed =
    brush === undefined ? view : { from: Math.min(brush.from, brush.to), to: Math.max(brush.from, brush.to) }
  const share = (moment: number) => ((moment - whole.from) / (whole.to - whole.from || 1)) * 100
  const call = place === undefined ? undefined : tree.calls[place]
  return (
    <div
      ref={box}
      role="img"
      aria-label={`${formatCount(tree.size)} calls in ${formatDuration(whole.to - whole.from)}, ${formatCount(tree.errors)} failed${isZoomed ? `; shown from ${formatDuration(view.from - whole.from)} to ${formatDuration(view.to - whole.from)}` : ''}`}
      className="relative mx-2 my-1 shrink-0 cursor-crosshair touch-pan-y overflow-hidden rounded-sm bg-inset select-none"
      style={{ height: HEIGHT_PX }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setBrush({ from: at(event), to: at(event) })
      }}
      onPointerMove={(event) => {
        if (brush !== undefined) setBrush({ ...brush, to: at(event) })
      }}
      onPointerUp={() => {
        if (brush !== undefined && brushed.to - brushed.from > (whole.to - whole.from) * BRUSH_SHARE_MIN)
          setView(brushed)
        setBrush(undefined)
      }}
      onPointerCancel={() => setBrush(undefined)}
      onDoubleClick={() => setView(undefined)}
    >
      <Strip tree={tree} />
      {call !== undefined && (
        <span className="absolute inset-y-0 w-px bg-strong" style={{ left: `${share(call.startedMs)}%` }} />
      )}
      {(isZoomed || brush !== undefined) && (
        <>
          <span
            className="absolute inset-y-0 left-0 border-e border-focus bg-bg/70"
            style={{ width: `${share(brushed.from)}%` }}
          />
          <span
            className="absolute inset-y-0 right-0 border-s border-focus bg-bg/70"
            style={{ left: `${share(brushed.to)}%` }}
          />
        </>
      )}
    </div>
  )
}

/** The calls themselves; drawn again only when they, the size or the theme change. */
function Strip({ tree }: { tree: TraceTree }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const redraw = () => draw(element, tree)
    const sizes = new ResizeObserver(redraw)
    sizes.observe(element)
    const themes = new MutationObserver(redraw)
    themes.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    return () => {
      sizes.disconnect()
      themes.disconnect()
    }
  }, [tree])
  return <canvas ref={canvas} className="absolute inset-0 size-full" />
}

function draw(canvas: HTMLCanvasElement, tree: TraceTree): void {
  const context = canvas.getContext('2d')
  if (context === null) return
  const ratio = window.devicePixelRatio
  const { clientWidth } = canvas
  canvas.width = clientWidth * ratio
  canvas.height = HEIGHT_PX * ratio
  context.scale(ratio, ratio)
  const styles = getComputedStyle(document.documentElement)
  const inks = new Map(Object.keys(KINDS).map((kind) => [kind, styles.getPropertyValue(`--kind-${kind}`)]))
  const scale = clientWidth / (tree.end - tree.start || 1)
  const bar = (place: number, ink: string | undefined, widthMin: number) => {
    const call = tree.calls[place]
    if (call === undefined || ink === undefined) return
    context.fillStyle = ink
    const lane = Math.min(tree.depths[place] ?? 0, LANES - 1)
    const width = Math.max(widthMin, ((call.endedMs ?? tree.end) - call.startedMs) * scale)
    const x = Math.min((call.startedMs - tree.start) * scale, clientWidth - widthMin)
    context.fillRect(x, lane * LANE_PX + 1, width, LANE_PX - 2)
  }
  for (let place = 0; place < tree.size; place++) {
    const kind: OpKind = kindOf(tree, place)
    bar(place, inks.get(kind), 1)
  }
  // What failed must not be covered by its neighbours.
  const error = styles.getPropertyValue('--error')
  for (let place = 0; place < tree.size; place++)
    if (tree.calls[place]?.status === 'error') bar(place, error, 2)
}
