import { type CSSProperties, memo, type ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { Skeleton } from '../states.tsx'
import type { TableColumn } from './column.ts'
import type { OnSelect } from './row-choice.ts'
import { RowLink, type RowPage } from './row-link.tsx'

interface TableRowProps {
  /** Undefined while it is being loaded. */
  row: unknown
  id: string | undefined
  index: number
  top: number
  height: number
  columns: readonly TableColumn<unknown>[]
  isActive: boolean
  isOpen: boolean
  /** Undefined: rows cannot be ticked. */
  isChosen: boolean | undefined
  /** The cell that keys act on; -1 for none. */
  activeColumn: number
  /** Lines of text that fit in. */
  lines: number
  onOpen: (row: unknown, index: number) => void
  onSelect: OnSelect | undefined
  pageOf: ((row: unknown) => RowPage) | undefined
  narrow: ((row: unknown) => ReactNode) | undefined
}

/** Around the row with the focus, and above its pinned cells. */
const FOCUS_RING =
  'after:pointer-events-none after:absolute after:inset-0 after:z-2 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus'

/** A pinned cell is a layer of its own to the browser, so it is one only in a table that scrolls sideways. */
const PINNED = 'group-data-wide/table:sticky group-data-wide/table:z-1'

/** Around the cell that keys act on, while its row has the focus. */
const CELL_RING =
  'group-focus-visible/row:outline-2 group-focus-visible/row:-outline-offset-2 group-focus-visible/row:outline-focus/70'

/** As many lines as fit, the last one with dots; a margin and not a padding, in which one more would be seen. */
const WRAPPED =
  'my-[5px] self-start leading-[18px] wrap-anywhere [-webkit-box-orient:vertical] [-webkit-line-clamp:var(--lines)] [display:-webkit-box]'

/** One row; draws again only when one of its plain props changes. */
export const TableRow = memo(function TableRow(props: TableRowProps) {
  const { row, index, top, height, columns, isActive, isOpen, isChosen, onOpen, pageOf, narrow } = props
  const ground = isOpen || isChosen ? 'bg-selected' : 'bg-bg group-hover/row:bg-hover'
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen || isOpen}
      tabIndex={isActive ? 0 : -1}
      data-index={index}
      className={classNames(
        'group/row absolute inset-x-0 top-0 border-b border-hair/60 outline-none contain-strict',
        isActive && FOCUS_RING,
        narrow === undefined ? 'grid' : 'flex items-center px-3',
        isOpen || isChosen ? 'bg-selected' : 'bg-bg hover:bg-hover',
      )}
      style={
        {
          height,
          transform: `translateY(${top}px)`,
          ...(narrow === undefined && { gridTemplateColumns: 'var(--columns)', '--lines': props.lines }),
        } as CSSProperties
      }
      onClick={() => row !== undefined && onOpen(row, index)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget && row !== undefined)
          onOpen(row, index)
      }}
    >
      {narrow !== undefined ? (
        <div role="gridcell" className="min-w-0 flex-1">
          {row === undefined ? <Skeleton /> : linked(row, narrow(row), pageOf)}
        </div>
      ) : (
        <>
          {isChosen !== undefined && <ChoiceCell {...props} ground={ground} />}
          {columns.map((column, at) => (
            <Cell
              key={column.id}
              at={at}
              className={classNames(
                // Clipped and not hidden, because whatever hides its overflow is a scroller to the browser.
                'min-w-0 overflow-clip px-2',
                props.lines === 1
                  ? 'leading-7 text-ellipsis whitespace-nowrap'
                  : column.wraps
                    ? WRAPPED
                    : 'pt-[5px] leading-[18px] text-ellipsis whitespace-nowrap',
                column.align === 'end' && 'tabular text-end',
                at === props.activeColumn && CELL_RING,
                at === 0 && classNames(PINNED, ground, isChosen === undefined ? 'left-0 ps-4' : 'left-8'),
              )}
            >
              {row === undefined ? (
                <Skeleton className="my-2 h-3 w-3/5" />
              ) : (
                linked(row, column.cell(row), column.isName === true ? pageOf : undefined)
              )}
            </Cell>
          ))}
        </>
      )}
    </div>
  )
})

/** What is shown of a row, as the link to its page where it has one. */
function linked(row: unknown, content: ReactNode, pageOf: TableRowProps['pageOf']): ReactNode {
  return pageOf === undefined ? content : <RowLink page={pageOf(row)}>{content}</RowLink>
}

function ChoiceCell({
  id,
  index,
  lines,
  isChosen,
  onSelect,
  ground,
}: Pick<TableRowProps, 'id' | 'index' | 'lines' | 'isChosen' | 'onSelect'> & { ground: string }) {
  return (
    <div
      role="gridcell"
      tabIndex={-1}
      className={classNames(
        PINNED,
        'left-0 flex justify-center',
        lines === 1 ? 'items-center' : 'pt-1.5',
        ground,
      )}
      // The focus stays with the row that keys act on.
      onMouseDown={(event) => event.preventDefault()}
      // The whole cell ticks: a miss by a pixel would open the row.
      onClick={(event) => {
        event.stopPropagation()
        if (id !== undefined) onSelect?.(id, index, event.shiftKey ? 'up to' : 'one')
      }}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        readOnly
        disabled={id === undefined}
        aria-label={`Choose row ${index + 1}`}
        checked={isChosen === true}
        className="size-3.5 accent-(--accent)"
      />
    </div>
  )
}

function Cell({ at, className, children }: { at?: number; className: string; children: ReactNode }) {
  return (
    <div role="gridcell" data-column={at} className={className}>
      {children}
    </div>
  )
}
