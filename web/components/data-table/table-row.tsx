import { memo, type ReactNode } from 'react'
import { classNames } from '../class-names.ts'
import { Skeleton } from '../states.tsx'
import type { TableColumn } from './column.ts'

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
  isSelected: boolean | undefined
  onOpen: (row: unknown, index: number) => void
  onSelect: ((id: string) => void) | undefined
  narrow: ((row: unknown) => ReactNode) | undefined
}

/** Around the row with the focus, and above its pinned cells. */
const FOCUS_RING =
  'after:pointer-events-none after:absolute after:inset-0 after:z-2 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus'

/** A pinned cell is a layer of its own to the browser, so it is one only in a table that scrolls sideways. */
const PINNED = 'group-data-wide/table:sticky group-data-wide/table:z-1'

/** One row; draws again only when one of its plain props changes. */
export const TableRow = memo(function TableRow(props: TableRowProps) {
  const { row, id, index, top, height, columns, isActive, isOpen, isSelected, onOpen, onSelect, narrow } =
    props
  const ground = isOpen || isSelected ? 'bg-selected' : 'bg-bg group-hover/row:bg-hover'
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected ?? isOpen}
      tabIndex={isActive ? 0 : -1}
      data-index={index}
      className={classNames(
        'group/row absolute inset-x-0 top-0 border-b border-hair/60 outline-none contain-strict',
        isActive && FOCUS_RING,
        narrow === undefined ? 'grid' : 'flex items-center px-3',
        isOpen || isSelected ? 'bg-selected' : 'bg-bg hover:bg-hover',
      )}
      style={{
        height,
        transform: `translateY(${top}px)`,
        ...(narrow === undefined && { gridTemplateColumns: 'var(--columns)' }),
      }}
      onClick={() => row !== undefined && onOpen(row, index)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target === event.currentTarget && row !== undefined)
          onOpen(row, index)
      }}
    >
      {narrow !== undefined ? (
        <div role="gridcell" className="min-w-0 flex-1">
          {row === undefined ? <Skeleton /> : narrow(row)}
        </div>
      ) : (
        <>
          {isSelected !== undefined && (
            <Cell className={classNames(PINNED, 'left-0 flex items-center justify-center', ground)}>
              <input
                type="checkbox"
                tabIndex={-1}
                aria-label={`Choose row ${index + 1}`}
                checked={isSelected}
                className="accent-(--accent)"
                onClick={(event) => event.stopPropagation()}
                onChange={() => id !== undefined && onSelect?.(id)}
              />
            </Cell>
          )}
          {columns.map((column, at) => (
            <Cell
              key={column.id}
              className={classNames(
                // Clipped and not hidden, because whatever hides its overflow is a scroller to the browser.
                'min-w-0 overflow-clip px-2 leading-7 text-ellipsis whitespace-nowrap',
                column.align === 'end' && 'tabular text-end',
                at === 0 && classNames(PINNED, ground, isSelected === undefined ? 'left-0 ps-4' : 'left-8'),
              )}
            >
              {row === undefined ? <Skeleton className="my-2 h-3 w-3/5" /> : column.cell(row)}
            </Cell>
          ))}
        </>
      )}
    </div>
  )
})

function Cell({ className, children }: { className: string; children: ReactNode }) {
  return (
    <div role="gridcell" className={className}>
      {children}
    </div>
  )
}
