import { ArrowDown, ArrowUp } from 'lucide-react'
import type { CSSProperties } from 'react'
import { classNames } from '../class-names.ts'
import type { Sort } from './column.ts'
import type { AllRows } from './row-choice.ts'
import type { ColumnModel, SizedColumn } from './use-column-model.ts'

/** As the pinned cells of rows: only in a table that scrolls sideways. */
const PINNED = 'group-data-wide/table:sticky group-data-wide/table:z-10'

/** Pixels that one arrow key moves an edge. */
const STEP_PX = 16

interface TableHeaderProps {
  model: ColumnModel
  all: AllRows | undefined
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
  style: CSSProperties | undefined
}

/** The names of columns: sorted by a click, widened by dragging their edge or by shift and arrows. */
export function TableHeader({ model, all, sort, onSort, style }: TableHeaderProps) {
  return (
    <div role="rowgroup" className="sticky top-0 z-10" style={style}>
      <div
        role="row"
        aria-rowindex={1}
        className="grid h-7 border-b border-hair bg-bg text-2xs text-muted"
        style={{ gridTemplateColumns: 'var(--columns)' }}
      >
        {model.hasBoxes && (
          <div role="columnheader" className={`${PINNED} left-0 flex items-center justify-center bg-bg`}>
            {all === undefined ? (
              <span className="sr-only">Chosen</span>
            ) : (
              <input
                type="checkbox"
                aria-label="Choose all rows"
                title="Choose all rows"
                checked={all.share === 'all'}
                disabled={all.isDisabled}
                // Only a property says that some are.
                ref={(box) => {
                  if (box !== null) box.indeterminate = all.share === 'some'
                }}
                className="size-3.5 accent-(--accent)"
                onChange={all.onChoose}
              />
            )}
          </div>
        )}
        {model.columns.map((column, index) => (
          <HeaderCell
            key={column.id}
            column={column}
            isFirst={index === 0}
            hasBoxes={model.hasBoxes}
            sort={sort}
            onSort={onSort}
          />
        ))}
      </div>
    </div>
  )
}

interface HeaderCellProps {
  column: SizedColumn
  isFirst: boolean
  hasBoxes: boolean
  sort: Sort | undefined
  onSort: ((sort: Sort) => void) | undefined
}

function HeaderCell({ column, isFirst, hasBoxes, sort, onSort }: HeaderCellProps) {
  const direction = sort?.column === column.id ? sort.direction : undefined
  const canSort = column.isSortable === true && onSort !== undefined
  const Arrow = direction === 'asc' ? ArrowUp : ArrowDown
  return (
    <div
      role="columnheader"
      aria-sort={direction === undefined ? undefined : direction === 'asc' ? 'ascending' : 'descending'}
      className={classNames(
        'group relative flex min-w-0',
        isFirst && `${PINNED} bg-bg`,
        isFirst && (hasBoxes ? 'left-8' : 'left-0'),
      )}
    >
      <button
        type="button"
        disabled={!canSort}
        title={`${column.title}${canSort ? ': click to sort, ' : ': '}shift and arrow keys to resize`}
        className={classNames(
          'flex min-w-0 flex-1 items-center gap-1 px-2 enabled:hover:text-strong',
          column.align === 'end' && 'flex-row-reverse',
          isFirst && !hasBoxes && 'ps-4 max-md:ps-3',
          direction !== undefined && 'text-strong',
        )}
        onClick={() => onSort?.({ column: column.id, direction: direction === 'desc' ? 'asc' : 'desc' })}
        onKeyDown={(event) => {
          if (!event.shiftKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return
          event.preventDefault()
          column.setWidth(column.width + (event.key === 'ArrowRight' ? STEP_PX : -STEP_PX))
        }}
      >
        <span className="truncate">{column.title}</span>
        {canSort && (
          <Arrow
            size={11}
            aria-hidden
            className={classNames('shrink-0', direction === undefined && 'opacity-0 group-hover:opacity-50')}
          />
        )}
      </button>
      <span
        aria-hidden
        className="absolute inset-y-0 -right-1 z-10 w-2 cursor-col-resize touch-none after:absolute after:inset-y-1.5 after:left-[3px] after:w-px after:bg-hair hover:after:w-0.5 hover:after:bg-focus"
        onMouseDown={column.startResize}
        onTouchStart={column.startResize}
        onDoubleClick={column.reset}
      />
    </div>
  )
}
