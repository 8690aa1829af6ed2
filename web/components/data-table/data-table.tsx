import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, type ReactNode, useCallback, useEffect, useState } from 'react'
import { useIsNarrow } from '../media.ts'
import type { Sort, TableColumn } from './column.ts'
import { TableHeader } from './table-header.tsx'
import { TableRow } from './table-row.tsx'
import { useActiveRow } from './use-active-row.ts'
import { useColumnModel } from './use-column-model.ts'

const ROW_PX = 28
const HEADER_PX = 28
/** Two lines: what a phone shows of a row, large enough to touch. */
const NARROW_ROW_PX = 52
/** Rows kept beyond what is seen, so that a turn of the wheel finds them drawn. */
const OVERSCAN = 6

export interface DataTableProps<Row> {
  /** Read out as the name of the table. */
  label: string
  /** Under this name the browser remembers the widths. */
  memory: string
  /** In the order shown; the first stays in place when the others scroll sideways. */
  columns: readonly TableColumn<Row>[]
  /** How many rows there are, loaded or not. */
  rowCount: number
  /** Undefined for a row that is not loaded yet. */
  rowAt: (index: number) => Row | undefined
  rowId: (row: Row) => string
  /** Which rows are needed, whenever that changes; `last` is included. */
  onRange?: (first: number, last: number) => void
  /** Enter, or a click. */
  onOpen?: (row: Row, index: number) => void
  /** A person went to another row by keys. */
  onActive?: (row: Row, index: number) => void
  /** The row that is open elsewhere. */
  openId?: string | undefined
  sort?: Sort | undefined
  onSort?: (sort: Sort) => void
  /** Ids; with it, rows have a box and `x` ticks them. */
  selected?: ReadonlySet<string>
  onSelect?: (id: string) => void
  /** Two lines of a row, on a phone. */
  narrow?: (row: Row) => ReactNode
  /** What the rows answer; when it changes, the table begins at its top again. */
  question?: string
  /** Data of another question is still shown. */
  isStale?: boolean
}

/**
 * A table of any number of rows, of which only those in view are in the document. It knows rows by their index and asks
 * for those it needs; who holds them decides how many stay in memory.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rowCount, rowAt, rowId, selected, isStale = false } = props
  // State, and not a ref: what is inside can only measure once it is there.
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const isNarrow = useIsNarrow() && props.narrow !== undefined
  const model = useColumnModel(props.memory, columns, selected !== undefined)
  const active = useActiveRow({
    ...props,
    scroller,
    pageRows: () => Math.floor((scroller?.clientHeight ?? 0) / ROW_PX) - 1,
  })
  useEffect(() => {
    if (props.question !== undefined) scroller?.scrollTo({ top: 0 })
  }, [props.question, scroller])
  const style = isNarrow
    ? undefined
    : ({ '--columns': model.template, minWidth: model.minWidth } as CSSProperties)
  return (
    <div
      ref={setScroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-busy={isStale}
      tabIndex={rowCount === 0 ? 0 : -1}
      className="thin-scroll relative min-h-0 flex-1 overflow-auto overscroll-contain outline-none [contain:strict] data-stale:opacity-60"
      data-stale={isStale || undefined}
      onKeyDown={active.onKeyDown}
    >
      {!isNarrow && <TableHeader model={model} sort={props.sort} onSort={props.onSort} style={style} />}
      <TableBody
        {...props}
        key={isNarrow ? 'narrow' : 'wide'}
        rowPx={isNarrow ? NARROW_ROW_PX : ROW_PX}
        headerPx={isNarrow ? 0 : HEADER_PX}
        isNarrow={isNarrow}
        scroller={scroller}
        active={active.index}
        reveal={active.reveal}
        onActivate={active.activate}
        style={style}
        rowAt={rowAt}
        rowId={rowId}
      />
    </div>
  )
}

interface BodyProps<Row> extends DataTableProps<Row> {
  rowPx: number
  headerPx: number
  isNarrow: boolean
  scroller: HTMLDivElement | null
  active: number
  /** Holds how to bring a row into view, for the keys. */
  reveal: React.RefObject<(index: number) => void>
  onActivate: (index: number) => void
  style: CSSProperties | undefined
}

/** The one component that knows the virtualizer: it hands plain numbers to rows that compare them. */
function TableBody<Row>(props: BodyProps<Row>) {
  'use no memo'
  const {
    rowCount,
    rowAt,
    rowId,
    rowPx,
    headerPx,
    scroller,
    active,
    reveal,
    style,
    onRange,
    onOpen,
    onActivate,
  } = props
  const virtualizer = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    // A frame that waits for rows is worse than rows that come a frame later.
    useFlushSync: false,
    scrollPaddingStart: headerPx,
    // The row with the focus stays in the document, or the focus would be lost with it.
    rangeExtractor: ({ startIndex, endIndex, overscan, count }) =>
      rangeWith(active, { startIndex, endIndex, overscan, count }),
  })
  const items = virtualizer.getVirtualItems()
  const first = Math.max(0, (virtualizer.range?.startIndex ?? 0) - OVERSCAN)
  const last = Math.min(rowCount - 1, (virtualizer.range?.endIndex ?? 0) + OVERSCAN)
  useEffect(() => {
    if (rowCount > 0) onRange?.(first, last)
  }, [first, last, rowCount, onRange])
  useEffect(() => {
    reveal.current = (index) => virtualizer.scrollToIndex(index, { align: 'auto' })
  }, [virtualizer, reveal])
  const open = useCallback(
    (row: Row, index: number) => {
      onActivate(index)
      onOpen?.(row, index)
    },
    [onOpen, onActivate],
  )
  return (
    <div role="rowgroup" className="relative" style={{ ...style, height: virtualizer.getTotalSize() }}>
      {items.map(({ index, start }) => {
        const row = rowAt(index)
        const id = row === undefined ? undefined : rowId(row)
        return (
          <TableRow
            key={index}
            row={row}
            id={id}
            index={index}
            top={start}
            height={rowPx}
            columns={props.columns as readonly TableColumn<unknown>[]}
            isActive={index === active}
            isOpen={id !== undefined && id === props.openId}
            isSelected={props.selected === undefined || id === undefined ? undefined : props.selected.has(id)}
            onOpen={open as (row: unknown, index: number) => void}
            onSelect={props.onSelect}
            narrow={props.isNarrow ? (props.narrow as ((row: unknown) => ReactNode) | undefined) : undefined}
          />
        )
      })}
    </div>
  )
}

function rangeWith(
  active: number,
  {
    startIndex,
    endIndex,
    overscan,
    count,
  }: { startIndex: number; endIndex: number; overscan: number; count: number },
): number[] {
  const first = Math.max(0, startIndex - overscan)
  const last = Math.min(count - 1, endIndex + overscan)
  const range = Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset)
  if (active >= 0 && active < first) range.unshift(active)
  if (active > last && active < count) range.push(active)
  return range
}
