import { useState } from 'react'
import { useKeys } from '../keys.ts'

interface Options {
  label: string
  scroller: HTMLDivElement | null
  columnCount: number
  /** The row that keys act on, and whether it is loaded. */
  index: number
  isLoaded: boolean
  /** Opens what can be done with a cell; undefined where there is nothing. */
  onCellMenu: ((cell: HTMLElement) => void) | undefined
}

/** The cell of the active row that keys act on. */
export interface ActiveCell {
  /** -1 for none. */
  column: number
  /** @returns whether the key was one of the cells' */
  onCellKey: (key: string) => boolean
}

export function useActiveCell({
  label,
  scroller,
  columnCount,
  index,
  isLoaded,
  onCellMenu,
}: Options): ActiveCell {
  const [column, setColumn] = useState(-1)
  const cellAt = (at: number) =>
    scroller?.querySelector<HTMLElement>(`[data-index="${index}"] [data-column="${at}"]`) ?? undefined
  useKeys(
    `${label} `,
    onCellMenu === undefined
      ? []
      : [
          {
            keys: 'c',
            does: 'What can be done with the cell (← → for another)',
            run() {
              const cell = cellAt(Math.max(0, column))
              if (isLoaded && cell !== undefined) onCellMenu(cell)
            },
          },
        ],
  )
  const onCellKey = (key: string): boolean => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key]
    if (by === undefined || onCellMenu === undefined) return false
    const target = Math.min(columnCount - 1, Math.max(-1, column + by))
    setColumn(target)
    cellAt(Math.max(0, target))?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    return true
  }
  return { column, onCellKey }
}
