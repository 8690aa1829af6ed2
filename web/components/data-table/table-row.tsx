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
        'group/row absolute inset-x-0 top-0 border-b border-hair/60 outline-none after:pointer-events-none after:absolute after:inset-0 after:z-2 focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-focus',
        narrow === undefined ? 'grid' : 'flex items-center px-3',
        ground,
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
            <Cell className={classNames('sticky left-0 z-1 flex items-center justify-center', ground)}>
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
                'min-w-0 truncate px-2 leading-7',
                column.align === 'end' && 'tabular text-end',
                at === 0 &&
                  classNames('sticky z-1', ground, isSelected === undefined ? 'left-0 ps-4' : 'left-8'),
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
