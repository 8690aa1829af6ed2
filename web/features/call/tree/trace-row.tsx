import { ChevronDown, ChevronRight, ChevronUp, Unlink } from 'lucide-react'
import { memo } from 'react'
import type { OpKind } from '../../../api/op-kinds.ts'
import { classNames } from '../../../components/class-names.ts'
import { formatCost, formatCount, formatDuration } from '../../../components/format.ts'
import { Status } from '../../../components/status.tsx'
import { KINDS, kindOf } from './op-kind.ts'
import type { SiblingFold } from './sibling-folds.ts'
import { type Bar, barOf, type TimeView } from './time-axis.ts'
import type { TraceTree } from './trace-tree.ts'

const INDENT_PX = 12
/** Deeper calls are not moved further in: a number says how deep they are. */
const INDENTS_MAX = 8

/** The tracks of a row and of the header: numbers only where there is room for them. */
export const ROW_TRACKS =
  'grid grid-cols-[minmax(0,1.6fr)_88px_minmax(0,1fr)] @xl:grid-cols-[minmax(0,1.6fr)_88px_52px_84px_minmax(0,1fr)]'
export const ONLY_WIDE = 'hidden @xl:block'

interface TraceRowProps {
  id: string
  tree: TraceTree
  place: number
  index: number
  top: number
  height: number
  isSelected: boolean
  /** Only shown because something below it was found. */
  isDim: boolean
  /** Undefined for a call without children. */
  isOpen: boolean | undefined
  /** This call and those like it beside it; undefined for one that does not repeat. */
  fold: SiblingFold | undefined
  /** The row stands for all of them. */
  isFolded: boolean
  /** When the trace waited for this call; undefined when it did not, or the critical path is hidden. */
  waited: TimeView | readonly TimeView[] | undefined
  /** The part of the time that is in view. */
  from: number
  to: number
  /** The name stands above the bar. */
  isStacked: boolean
  onSelect: (place: number) => void
  onToggle: (place: number, open: boolean) => void
  onRepeated: (first: number, open: boolean) => void
  onFit: (place: number) => void
}

/** One call: where it belongs, what it took, and when it ran. */
export const TraceRow = memo(function TraceRow(props: TraceRowProps) {
  const { id, tree, place, index, top, height, isSelected, isDim, isOpen, isStacked, isFolded } = props
  const call = tree.calls[place]
  if (call === undefined) return null
  const folded = isFolded ? props.fold : undefined
  const { tokens, cost } = folded ?? { tokens: tree.tokens[place], cost: tree.cost[place] }
  return (
    <div
      id={id}
      role="row"
      aria-level={(tree.depths[place] ?? 0) + 1}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      aria-expanded={isOpen}
      className={classNames(
        'absolute inset-x-0 top-0 items-center',
        isStacked
          ? 'grid grid-cols-[minmax(0,1fr)_auto] grid-rows-[22px_12px] px-2 py-0.5'
          : `${ROW_TRACKS} pe-3`,
        isSelected
          ? 'bg-selected group-focus-visible/tree:outline-2 group-focus-visible/tree:-outline-offset-2 group-focus-visible/tree:outline-focus'
          : 'hover:bg-hover',
        isDim && 'opacity-55',
      )}
      style={{ height, transform: `translateY(${top}px)` }}
      onClick={() => {
        props.onSelect(place)
        if (isFolded) props.onRepeated(place, true)
      }}
    >
      <NameCell {...props} />
      {folded === undefined ? (
        <Cell className={call.endedMs === null ? 'text-running' : 'text-muted'}>
          {call.endedMs === null ? 'running' : formatDuration(call.endedMs - call.startedMs)}
        </Cell>
      ) : (
        <Cell className="text-muted" title="The median of their times">
          <span className="text-2xs">p50</span> {formatDuration(folded.p50Ms)}
        </Cell>
      )}
      {!isStacked && (
        <>
          <Cell className={classNames('text-muted', ONLY_WIDE)}>
            {Number.isNaN(tokens) ? '' : formatCount(tokens)}
          </Cell>
          <Cell className={classNames('text-muted', ONLY_WIDE)}>
            {Number.isNaN(cost) ? '' : formatCost(cost)}
          </Cell>
        </>
      )}
      <Lane {...props} />
    </div>
  )
})

function Cell({
  className,
  title,
  children,
}: {
  className: string
  title?: string
  children: React.ReactNode
}) {
  return (
    <div
      role="gridcell"
      title={title}
      className={classNames('tabular truncate px-1.5 text-end text-xs', className)}
    >
      {children}
    </div>
  )
}

function NameCell(props: TraceRowProps) {
  const { tree, place, isOpen, isSelected, isStacked, fold, isFolded, waited, onToggle } = props
  const call = tree.calls[place]
  if (call === undefined) return null
  const depth = tree.depths[place] ?? 0
  const indents = Math.min(depth, INDENTS_MAX)
  const errors = isFolded ? (fold?.errors ?? 0) : (tree.errorsBelow[place] ?? 0)
  const kind = kindOf(tree, place)
  const { icon: Icon, word } = KINDS[kind]
  const Chevron = isOpen ? ChevronDown : ChevronRight
  return (
    <div
      role="gridcell"
      className={classNames('flex h-full min-w-0 items-center gap-1.5', !isStacked && 'ps-2')}
    >
      {indents > 0 && (
        <span
          aria-hidden
          className="h-full shrink-0 bg-[repeating-linear-gradient(to_right,transparent_0_7px,var(--hair)_7px_8px,transparent_8px_12px)]"
          style={{ width: indents * INDENT_PX, marginInlineEnd: -4 }}
        />
      )}
      {depth > INDENTS_MAX && <span className="tabular shrink-0 text-2xs text-muted">{depth}</span>}
      {isOpen === undefined ? (
        <span className="w-4 shrink-0" />
      ) : (
        <span
          aria-hidden
          data-toggle
          className="flex h-full w-4 shrink-0 cursor-pointer items-center text-muted hover:text-strong"
          onClick={(event) => {
            event.stopPropagation()
            onToggle(place, !isOpen)
          }}
        >
          <Chevron size={14} />
        </span>
      )}
      <Icon size={13} aria-label={word} className="shrink-0" style={{ color: `var(--kind-${kind})` }} />
      <span className={classNames('truncate', isSelected ? 'text-strong' : 'text-normal')} title={call.name}>
        {call.name}
      </span>
      {fold !== undefined && <Repeated {...props} fold={fold} />}
      {waited !== undefined && <span className="sr-only">on the critical path</span>}
      {!isFolded && call.status === 'error' && <Status kind="error" show="dot" />}
      {isOpen === false && errors > 0 && (
        <span className="tabular shrink-0 rounded-sm bg-error-soft px-1 text-2xs text-error">
          {formatCount(errors)}
          <span className={isFolded ? 'sr-only' : undefined}> {errors === 1 ? 'error' : 'errors'}</span>
        </span>
      )}
      {tree.orphans.has(place) && (
        <Unlink size={12} aria-label="its parent is not in this trace" className="shrink-0 text-warn" />
      )}
    </div>
  )
}

/** How many there are of this name beside it, and whether they are shown one by one. */
function Repeated({ fold, isFolded, place, onRepeated }: TraceRowProps & { fold: SiblingFold }) {
  const count = formatCount(fold.count)
  return (
    <button
      type="button"
      tabIndex={-1}
      title={isFolded ? `${count} calls of this name: click for each of them` : 'Show them as one row (r)'}
      className="tabular flex shrink-0 cursor-pointer items-center gap-0.5 rounded-sm bg-inset px-1 text-2xs text-normal hover:text-strong"
      onClick={(event) => {
        if (isFolded) return
        event.stopPropagation()
        onRepeated(place, false)
      }}
    >
      ×{count}
      {!isFolded && <ChevronUp size={11} aria-label="shown one by one" />}
    </button>
  )
}

function Lane(props: TraceRowProps) {
  const { tree, place, from, to, isStacked, fold, isFolded, waited, onFit } = props
  const call = tree.calls[place]
  if (call === undefined) return null
  const view = { from, to }
  const end = call.endedMs ?? tree.end
  const bar = barOf(call.startedMs, end, view)
  const finish = tree.finishes[place] ?? end
  const outlived = finish > end ? barOf(end, finish, view) : undefined
  const kind = kindOf(tree, place)
  return (
    <div
      role="gridcell"
      className={classNames('relative h-full overflow-hidden', isStacked && 'col-span-2')}
      onDoubleClick={() => onFit(place)}
    >
      {isFolded && fold !== undefined && <Span bar={barOf(fold.from, fold.to, view)} kind={kind} />}
      {outlived !== undefined && (
        <span
          aria-hidden
          className="absolute top-1/2 h-px bg-muted/70"
          style={{ left: `${outlived.left}%`, width: `${outlived.width}%` }}
        />
      )}
      {bar !== undefined && (
        <span
          aria-hidden
          className={classNames(
            'absolute top-1/2 -translate-y-1/2 rounded-[2px]',
            isStacked ? 'h-1.5' : 'h-2.5',
            call.status === 'error' && 'ring-[1.5px] ring-error ring-inset',
            call.endedMs === null && 'animate-slow opacity-60',
          )}
          style={{
            left: `min(${bar.left}%, 100% - 2px)`,
            width: `max(${bar.width}%, 2px)`,
            background: `var(--kind-${kind})`,
          }}
        />
      )}
      {waited !== undefined && <Waited waited={waited} view={view} />}
    </div>
  )
}

/** From the first to the last of repeated calls. */
function Span({ bar, kind }: { bar: Bar | undefined; kind: OpKind }) {
  if (bar === undefined) return null
  return (
    <span
      aria-hidden
      className="absolute top-1/2 h-2.5 -translate-y-1/2 rounded-[2px] opacity-30"
      style={{ left: `${bar.left}%`, width: `max(${bar.width}%, 2px)`, background: `var(--kind-${kind})` }}
    />
  )
}

/** A line along the times for which the trace waited. */
function Waited({ waited, view }: { waited: TimeView | readonly TimeView[]; view: TimeView }) {
  const times = 'from' in waited ? [waited] : waited
  return times.map((time) => {
    const bar = barOf(time.from, time.to, view)
    if (bar === undefined) return null
    return (
      <span
        key={time.from}
        aria-hidden
        data-waited
        className="absolute bottom-1 h-[3px] bg-strong"
        style={{ left: `min(${bar.left}%, 100% - 1px)`, width: `max(${bar.width}%, 1px)` }}
      />
    )
  })
}
