import { useNavigate } from '@tanstack/react-router'
import {
  type CSSProperties,
  type ReactNode,
  useCallback,
  useEffect,
  useReducer,
  useRef,
  useState,
} from 'react'
import { formatCount } from '../format.ts'
import { useIsNarrow } from '../media.ts'
import type { MenuGroup } from '../menu-popup.tsx'
import { CellMenu } from './cell-menu.tsx'
import type { Sort, TableColumn } from './column.ts'
import { type DrawnRow, drawRows } from './drawn-rows.ts'
import type { AllRows, OnSelect } from './row-choice.ts'
import type { RowPage } from './row-link.tsx'
import { inRowOrder, type RowSlot, reuseSlots } from './row-slots.ts'
import { TableHeader } from './table-header.tsx'
import { TableRow } from './table-row.tsx'
import { useActiveRow } from './use-active-row.ts'
import { useColumnModel } from './use-column-model.ts'
import { useIsWide } from './use-is-wide.ts'
import { useRowWindow } from './use-row-window.ts'

const ROW_PX = 28
const HEADER_PX = 28
/** Of rows with several lines. */
const LINE_PX = 18
const ROW_PADDING_PX = 10
/** No browser scrolls further: what is taller is cut, in some of them here, in others at twice as much. */
const HEIGHT_PX_MAX = 17_000_000
/** Two lines: what a phone shows of a row, large enough to touch. */
const NARROW_ROW_PX = 52

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
  /** Enter, or a click; where absent, they open the page of the row. */
  onOpen?: (row: Row, index: number) => void
  /** The page of a row, which its name is a link to. */
  pageOf?: (row: Row) => RowPage
  /** A person moved to another row by keys. */
  onActive?: (row: Row, index: number) => void
  /** The row that is open elsewhere. */
  openId?: string | undefined
  /** Its place, where it is known: it is brought into view, and keys go on from it; -1 for none. */
  openIndex?: number
  sort?: Sort | undefined
  onSort?: (sort: Sort) => void
  /** Ids; with it, rows have a box and `x` ticks them. */
  selected?: Pick<ReadonlySet<string>, 'has'>
  onSelect?: OnSelect
  /** With it, the header has a box too. */
  all?: AllRows
  /** Lines of text in each row. */
  lines?: number
  /** What can be done with one cell: behind a button in it, and `c`. */
  cellMenu?: (row: Row, column: string) => readonly MenuGroup[]
  /** One of these menus opens. */
  onCellMenu?: () => void
  /** Two lines of a row, on a phone. */
  narrow?: (row: Row) => ReactNode
  /** What the rows depend on; when it changes, the table scrolls to its top. */
  question?: string
  /** Data of an earlier request is still shown. */
  isStale?: boolean
}

/**
 * A table of any number of rows, of which only those in view are in the document. It knows rows by their index and
 * requests those it needs; their owner decides how many stay in memory.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rowAt, rowId, selected, isStale = false, lines = 1, cellMenu } = props
  // State, and not a ref: the inner components can only measure once the element exists.
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null)
  const isNarrow = useIsNarrow() && props.narrow !== undefined
  const rowPx = isNarrow ? NARROW_ROW_PX : lines === 1 ? ROW_PX : lines * LINE_PX + ROW_PADDING_PX
  const rowCount = Math.min(props.rowCount, Math.floor(HEIGHT_PX_MAX / rowPx))
  const model = useColumnModel(props.memory, columns, selected !== undefined)
  const isWide = useIsWide(scroller, model.minWidth)
  const [menuCell, setMenuCell] = useState<HTMLElement>()
  const openMenu = (cell: HTMLElement | undefined) => {
    setMenuCell(cell)
    if (cell !== undefined) props.onCellMenu?.()
  }
  useEffect(() => {
    if (props.question !== undefined) scroller?.scrollTo({ top: 0 })
  }, [props.question, scroller])
  const onOpen = useOpen(props)
  const active = useActiveRow({
    ...props,
    ...(onOpen !== undefined && { onOpen }),
    rowCount,
    scroller,
    pageRows: () => Math.floor((scroller?.clientHeight ?? 0) / rowPx) - 1,
    ...(cellMenu !== undefined && !isNarrow && { onCellMenu: openMenu }),
  })
  const style = isNarrow
    ? undefined
    : ({ '--columns': model.template, minWidth: model.minWidth } as CSSProperties)
  const grid = (
    <div
      ref={setScroller}
      role="grid"
      aria-label={label}
      aria-rowcount={props.rowCount + 1}
      aria-colcount={columns.length}
      aria-multiselectable={selected !== undefined}
      aria-busy={isStale}
      tabIndex={rowCount === 0 ? 0 : -1}
      className="group/table thin-scroll relative min-h-0 flex-1 overflow-auto overscroll-contain outline-none [contain:strict] data-stale:opacity-60"
      data-stale={isStale || undefined}
      data-wide={isWide || undefined}
      onKeyDown={active.onKeyDown}
    >
      {!isNarrow && (
        <TableHeader model={model} all={props.all} sort={props.sort} onSort={props.onSort} style={style} />
      )}
      <TableBody
        {...props}
        {...(onOpen !== undefined && { onOpen })}
        rowCount={rowCount}
        key={isNarrow ? 'narrow' : 'wide'}
        rowPx={rowPx}
        headerPx={isNarrow ? 0 : HEADER_PX}
        isNarrow={isNarrow}
        scroller={scroller}
        active={active.index}
        activeColumn={active.column}
        reveal={active.reveal}
        onActivate={active.activate}
        style={style}
        rowAt={rowAt}
        rowId={rowId}
      />
    </div>
  )
  return (
    <>
      {grid}
      {rowCount < props.rowCount && <CutNote rowCount={rowCount} />}
      {cellMenu !== undefined && !isNarrow && (
        <CellMenu
          scroller={scroller}
          columns={columns}
          rowAt={rowAt}
          entries={cellMenu}
          cell={menuCell}
          onCell={openMenu}
        />
      )}
    </>
  )
}

/** What a click on a row does. */
function useOpen<Row>({ onOpen, pageOf }: Pick<DataTableProps<Row>, 'onOpen' | 'pageOf'>) {
  const navigate = useNavigate()
  const toPage = useCallback((row: Row) => pageOf && void navigate(pageOf(row)), [navigate, pageOf])
  return onOpen ?? (pageOf && toPage)
}

function CutNote({ rowCount }: { rowCount: number }) {
  return (
    <p role="note" className="shrink-0 border-t border-hair px-4 py-1 text-xs text-muted">
      The list ends after its first {formatCount(rowCount)} rows: conditions, or the other order, show the
      rest.
    </p>
  )
}

interface BodyProps<Row> extends DataTableProps<Row> {
  rowPx: number
  headerPx: number
  isNarrow: boolean
  scroller: HTMLDivElement | null
  active: number
  /** The column of the active row that keys act on; -1 for none. */
  activeColumn: number
  /** Holds how to bring a row into view, for the keys. */
  reveal: React.RefObject<(index: number) => void>
  onActivate: (index: number) => void
  style: CSSProperties | undefined
}

/** The one component that draws again while the table scrolls: it hands plain values to rows that compare them. */
function TableBody<Row>(props: BodyProps<Row>) {
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
  const slots = useRef<RowSlot[]>([])
  const { first, last, isMoving, reveal: intoView } = useRowWindow({ scroller, rowCount, rowPx, headerPx })
  const reused = reuseSlots(slots.current, indexesOf(first, last, { count: rowCount, active }))
  slots.current = isMoving ? reused : inRowOrder(reused)
  const drawn = useDrawnRows(slots.current, rowAt)
  useEffect(() => {
    if (rowCount > 0) onRange?.(first, last)
  }, [first, last, rowCount, onRange])
  useEffect(() => {
    reveal.current = intoView
  }, [intoView, reveal])
  const open = useCallback(
    (row: Row, index: number) => {
      onActivate(index)
      onOpen?.(row, index)
    },
    [onOpen, onActivate],
  )
  const { onSelect } = props
  const select = useCallback<OnSelect>(
    (id, index, how) => {
      onActivate(index)
      onSelect?.(id, index, how)
    },
    [onSelect, onActivate],
  )
  return (
    <div role="rowgroup" className="relative" style={{ ...style, height: rowCount * rowPx }}>
      {drawn.map(({ key, index, row }) => {
        const id = row === undefined ? undefined : rowId(row)
        return (
          <TableRow
            key={key}
            row={row}
            id={id}
            index={index}
            top={index * rowPx}
            height={rowPx}
            columns={props.columns as readonly TableColumn<unknown>[]}
            isActive={index === active}
            isOpen={id !== undefined && id === props.openId}
            isChosen={props.selected === undefined ? undefined : id !== undefined && props.selected.has(id)}
            activeColumn={index === active ? props.activeColumn : -1}
            lines={props.lines ?? 1}
            onOpen={open as (row: unknown, index: number) => void}
            onSelect={select}
            pageOf={props.pageOf as ((row: unknown) => RowPage) | undefined}
            narrow={props.isNarrow ? (props.narrow as ((row: unknown) => ReactNode) | undefined) : undefined}
          />
        )
      })}
    </div>
  )
}

/** Rows get their content over as many frames as it takes. */
function useDrawnRows<Row>(slots: readonly RowSlot[], rowAt: (index: number) => Row | undefined) {
  const [, drawMore] = useReducer((frames: number) => frames + 1, 0)
  const shown = useRef<DrawnRow<Row>[]>([])
  const { rows, isComplete } = drawRows(shown.current, slots, rowAt)
  shown.current = rows
  useEffect(() => {
    if (isComplete) return
    const frame = requestAnimationFrame(drawMore)
    return () => cancelAnimationFrame(frame)
  })
  return rows
}

/** The rows in view, and the one with the focus: it stays in the document, or the focus would be lost with it. */
function indexesOf(
  first: number,
  last: number,
  { count, active }: { count: number; active: number },
): number[] {
  const range = Array.from({ length: Math.max(0, last - first + 1) }, (_, offset) => first + offset)
  const isElsewhere = active >= 0 && active < count && (active < first || active > last)
  return isElsewhere ? [...range, active] : range
}
