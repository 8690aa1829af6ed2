import { ChevronDown } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { lazyPart } from '../lazy-part.ts'
import type { MenuGroup } from '../menu-popup.tsx'
import type { TableColumn } from './column.ts'

const CellMenuPopup = lazyPart(async () => (await import('./cell-menu-popup.tsx')).CellMenuPopup)

/** A pointer that moves over cells, or under which they scroll, wants none of them. */
const RESTS_MS = 80
const BUTTON_PX = 22

interface CellMenuProps<Row> {
  scroller: HTMLDivElement | null
  columns: readonly TableColumn<Row>[]
  rowAt: (index: number) => Row | undefined
  entries: (row: Row, column: string) => readonly MenuGroup[]
  /** Whose menu is open. */
  cell: HTMLElement | undefined
  onCell: (cell: HTMLElement | undefined) => void
}

/** What can be done with a cell: one button for all cells of a table, at the end of the one under the pointer. */
export function CellMenu<Row>({ scroller, columns, rowAt, entries, cell, onCell }: CellMenuProps<Row>) {
  const hovered = useHoveredCell(scroller)
  const at = cell ?? hovered
  const row = at === undefined ? undefined : rowAt(Number(rowOf(at)?.dataset['index']))
  const column = columns[Number(at?.dataset['column'])]
  if (at === undefined || row === undefined || column === undefined) return null
  const { right, left, top } = at.getBoundingClientRect()
  const edge = Math.min(right, scroller?.getBoundingClientRect().right ?? right)
  return (
    <>
      {edge - left > BUTTON_PX && (
        <button
          type="button"
          data-cell-menu
          tabIndex={-1}
          aria-label={`What can be done with this cell of ${column.title}`}
          className="fixed z-10 flex h-5 items-center justify-center rounded-md bg-raised text-muted shadow-sm hover:text-strong coarse:hidden"
          style={{ top: top + 4, left: edge - BUTTON_PX - 2, width: BUTTON_PX }}
          onClick={() => onCell(at)}
        >
          <ChevronDown size={14} aria-hidden />
        </button>
      )}
      {cell !== undefined && (
        <Suspense>
          <CellMenuPopup
            label={column.title}
            anchor={cell}
            groups={entries(row, column.id)}
            onClose={() => onCell(undefined)}
          />
        </Suspense>
      )}
    </>
  )
}

function rowOf(cell: HTMLElement): HTMLElement | null {
  return cell.closest<HTMLElement>('[data-index]')
}

/** The cell under a pointer that rests; none while the table scrolls. */
function useHoveredCell(scroller: HTMLDivElement | null): HTMLElement | undefined {
  const [hovered, setHovered] = useState<HTMLElement>()
  useEffect(() => {
    if (scroller === null) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let pointer: { x: number; y: number } | undefined
    const look = () => {
      const found = pointer && document.elementFromPoint(pointer.x, pointer.y)
      // On the button itself one is still in its cell.
      if (found == null || found.closest('[data-cell-menu]') !== null) return
      const cell = found.closest<HTMLElement>('[data-column]')
      setHovered(cell !== null && scroller.contains(cell) ? cell : undefined)
    }
    const lookSoon = () => {
      clearTimeout(timer)
      timer = setTimeout(look, RESTS_MS)
    }
    const onMove = ({ clientX, clientY, pointerType }: PointerEvent) => {
      pointer = pointerType === 'mouse' ? { x: clientX, y: clientY } : undefined
      lookSoon()
    }
    const onLeave = ({ relatedTarget }: PointerEvent) => {
      clearTimeout(timer)
      if (relatedTarget instanceof Element && relatedTarget.closest('[data-cell-menu]') !== null) return
      pointer = undefined
      setHovered(undefined)
    }
    const onScroll = () => {
      setHovered(undefined)
      lookSoon()
    }
    scroller.addEventListener('pointermove', onMove, { passive: true })
    scroller.addEventListener('pointerleave', onLeave)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(timer)
      scroller.removeEventListener('pointermove', onMove)
      scroller.removeEventListener('pointerleave', onLeave)
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [scroller])
  return hovered
}
