import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useRef, useState } from 'react'
import { classNames } from '../../../components/class-names.ts'
import { formatDuration } from '../../../components/format.ts'
import { useIsNarrow } from '../../../components/media.ts'
import { ticks, zoom } from './time-axis.ts'
import { ONLY_WIDE, ROW_TRACKS, TraceRow } from './trace-row.tsx'
import type { Select, TreeCommands } from './use-tree-commands.ts'
import type { TreeView } from './use-tree-view.ts'
import { hasChildren, isFold } from './visible-rows.ts'

const ROW_PX = 26
/** The name above the bar, large enough to touch. */
const STACKED_ROW_PX = 38
const HEADER_PX = 22
const OVERSCAN = 10
/** How much a turn of the wheel with ctrl zooms. */
const ZOOM_STEP = 1.0015
/** The text of a mark with some air; so far from the end there is room for it. */
const MARK_PX = 64

interface TraceRowsProps {
  shown: TreeView
  commands: TreeCommands
  select: Select
  /** While calls still come, the row that is looked at moves. */
  isComplete: boolean
}

/** The calls in view of a tree of any size; knows the virtualizer and hands plain values on. */
export function TraceRows({ shown, commands, select, isComplete }: TraceRowsProps) {
  'use no memo'
  const { tree, rows, place, view, found } = shown
  const scroller = useRef<HTMLDivElement>(null)
  const isStacked = useIsNarrow()
  const rowPx = isStacked ? STACKED_ROW_PX : ROW_PX
  const row = place === undefined ? -1 : rows.indexOf(place)
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    useFlushSync: false,
    // The header lies over the first row and moves the others down by as much.
    scrollPaddingEnd: isStacked ? 0 : HEADER_PX,
  })
  const { measure } = virtualizer
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights are measured anew when they change
  useEffect(measure, [rowPx, measure])
  useReaching({ row, id: tree.calls[place ?? -1]?.id ?? '', isComplete }, (index, at) => {
    const { range } = virtualizer
    const isSeen = range !== null && index > range.startIndex && index < range.endIndex
    virtualizer.scrollToIndex(index, { align: at === 'next' || isSeen ? 'auto' : 'center' })
  })
  useWheelZoom(scroller, shown)
  const latest = useRef({ commands, select, shown })
  useEffect(() => {
    latest.current = { commands, select, shown }
  })
  const onSelect = useCallback((at: number) => {
    const id = latest.current.shown.tree.calls[at]?.id
    if (id !== undefined) latest.current.select(id, 'push')
  }, [])
  const onToggle = useCallback((at: number, open: boolean) => latest.current.commands.setOpen(at, open), [])
  const onRepeated = useCallback(
    (at: number, open: boolean) => latest.current.commands.setRepeated(at, open),
    [],
  )
  const onFit = useCallback((at: number) => latest.current.shown.fitTo(at), [])
  const hits = found === undefined ? undefined : new Set(found.hits)
  return (
    <div
      ref={scroller}
      role="treegrid"
      aria-label="Calls of the trace"
      aria-rowcount={rows.length + 1}
      aria-busy={!isComplete}
      tabIndex={0}
      aria-activedescendant={row < 0 ? undefined : `trace-row-${row}`}
      onKeyDown={commands.onKeyDown}
      className="group/tree thin-scroll @container min-h-0 flex-1 overflow-x-hidden overflow-y-auto outline-none [contain:strict]"
    >
      {!isStacked && <Header shown={shown} />}
      <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const at = rows[index]
          if (at === undefined) return null
          return (
            <TraceRow
              key={tree.calls[at]?.id}
              id={`trace-row-${index}`}
              tree={tree}
              place={at}
              index={index}
              top={start}
              height={rowPx}
              isSelected={at === place}
              isDim={hits !== undefined && !hits.has(at)}
              {...openingOf(shown, index, at)}
              from={view.from}
              to={view.to}
              isStacked={isStacked}
              onSelect={onSelect}
              onToggle={onToggle}
              onRepeated={onRepeated}
              onFit={onFit}
            />
          )
        })}
      </div>
    </div>
  )
}

/** What a row shows of what is below and beside its call. */
function openingOf({ tree, rows, found, unfolding, path, pathOfFolds }: TreeView, index: number, at: number) {
  const fold = found === undefined ? tree.folds.byFirst.get(at) : undefined
  const part = path?.get(at)
  if (fold !== undefined && isFold(tree, unfolding, at))
    return { isOpen: false, fold, isFolded: true, waited: pathOfFolds?.get(at) }
  const isOpen = hasChildren(tree, at) ? tree.parents[rows[index + 1] ?? 0] === at : undefined
  return { isOpen, fold, isFolded: false, waited: isOpen ? part?.own : part?.whole }
}

function Header({ shown: { tree, view } }: { shown: TreeView }) {
  const [lane, setLane] = useState<HTMLElement | null>(null)
  const lanePx = useWidth(lane)
  const width = view.to - view.from || 1
  const marks = ticks(view, tree.start, lanePx / MARK_PX)
    .map((ms) => ({ ms, left: ((tree.start + ms - view.from) / width) * lanePx }))
    .filter(({ left }) => left >= 0 && left <= lanePx - MARK_PX)
  return (
    <div role="rowgroup" className="sticky top-0 z-10 border-b border-hair bg-bg">
      <div
        role="row"
        className={classNames(ROW_TRACKS, 'items-center pe-3 text-2xs text-muted')}
        style={{ height: HEADER_PX }}
      >
        <span role="columnheader" className="ps-2">
          Call
        </span>
        <span role="columnheader" className="px-1.5 text-end">
          Time
        </span>
        <span role="columnheader" className={classNames('px-1.5 text-end', ONLY_WIDE)}>
          Tokens
        </span>
        <span role="columnheader" className={classNames('px-1.5 text-end', ONLY_WIDE)}>
          Cost
        </span>
        <span
          ref={setLane}
          role="columnheader"
          aria-label="Timeline"
          className="tabular relative h-full overflow-hidden whitespace-nowrap"
        >
          {marks.map(({ ms, left }) => (
            <span
              key={ms}
              className="absolute top-0 h-full border-l border-hair ps-1 leading-[22px]"
              style={{ left }}
            >
              {ms === 0 ? '0' : formatDuration(ms)}
            </span>
          ))}
        </span>
      </div>
    </div>
  )
}

/** How many pixels wide an element is, as it is resized. */
function useWidth(element: HTMLElement | null): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0))
    observer.observe(element)
    return () => observer.disconnect()
  }, [element])
  return width
}

/**
 * Brings the call that is looked at into view: in the middle when the page opens at it or jumps to it, and again while
 * calls still come before it; afterwards it does not scroll until another call is selected.
 */
function useReaching(
  { row, id, isComplete }: { row: number; id: string; isComplete: boolean },
  scrollTo: (index: number, at: 'next' | 'elsewhere') => void,
): void {
  const reached = useRef('')
  const last = useRef(-1)
  useEffect(() => {
    const wanted = `${id} ${isComplete ? '' : row}`
    if (row < 0 || reached.current === wanted) return
    scrollTo(row, last.current >= 0 && Math.abs(row - last.current) === 1 ? 'next' : 'elsewhere')
    last.current = row
    reached.current = wanted
  })
}

/** With ctrl, or two fingers, the wheel zooms the time about the pointer; the browser must not zoom the page then. */
function useWheelZoom(scroller: React.RefObject<HTMLDivElement | null>, shown: TreeView): void {
  const latest = useRef(shown)
  useEffect(() => {
    latest.current = shown
  })
  useEffect(() => {
    const element = scroller.current
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return
      event.preventDefault()
      const lane = element?.querySelector('[role="row"] > :last-child')?.getBoundingClientRect()
      if (lane === undefined || lane.width === 0) return
      const { view, whole, setView } = latest.current
      const share = Math.min(1, Math.max(0, (event.clientX - lane.left) / lane.width))
      const at = view.from + share * (view.to - view.from)
      setView(zoom(view, whole, at, ZOOM_STEP ** event.deltaY))
    }
    element?.addEventListener('wheel', onWheel, { passive: false })
    return () => element?.removeEventListener('wheel', onWheel)
  }, [scroller])
}
