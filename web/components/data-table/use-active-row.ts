import { type KeyboardEvent, type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useKeys } from '../keys.ts'
import type { OnSelect } from './row-choice.ts'
import { useActiveCell } from './use-active-cell.ts'

interface Options<Row> {
  label: string
  rowCount: number
  rowAt: (index: number) => Row | undefined
  rowId: (row: Row) => string
  onOpen?: (row: Row, index: number) => void
  onActive?: (row: Row, index: number) => void
  onSelect?: OnSelect
  openIndex?: number
  columns: readonly unknown[]
  /** Opens what can be done with a cell. */
  onCellMenu?: (cell: HTMLElement) => void
  scroller: HTMLDivElement | null
  /** How many rows one page key moves. */
  pageRows: () => number
}

/** The one row of a table that keys act on; it has the focus, and keeps it while the table scrolls. */
export interface ActiveRow {
  index: number
  /** The column of its active cell; -1 for none. */
  column: number
  /** Set by the table: brings a row into view. */
  reveal: RefObject<(index: number) => void>
  /** Makes a row the active one, without moving the focus. */
  activate: (next: number) => void
  onKeyDown: (event: KeyboardEvent) => void
}

export function useActiveRow<Row>(options: Options<Row>): ActiveRow {
  const { rowCount, rowAt, rowId, onOpen, onActive, onSelect, scroller, pageRows } = options
  const [index, setIndex] = useState(0)
  const reveal = useRef<(index: number) => void>(() => {})
  const moved = useRef(false)
  const isBlank = useRef(true)
  const row = index < rowCount ? rowAt(index) : undefined
  const id = row === undefined ? undefined : rowId(row)

  // A row that keys went to may only be drawn, or loaded, a moment later.
  useEffect(() => {
    if (!moved.current) return
    scroller?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true })
    if (row === undefined || id === undefined) return
    moved.current = false
    onActive?.(row, index)
  })

  const { openIndex = -1 } = options
  const isListed = openIndex >= 0 && openIndex < rowCount
  useEffect(() => {
    if (!isListed || scroller === null) return
    isBlank.current = false
    setIndex(openIndex)
    reveal.current(openIndex)
  }, [isListed, openIndex, scroller])

  const go = (next: number) => {
    if (rowCount === 0) return
    const target = isBlank.current && next > index ? index : Math.min(rowCount - 1, Math.max(0, next))
    isBlank.current = false
    moved.current = true
    setIndex(target)
    reveal.current(target)
    // An unchanged index draws nothing, so nothing would take the focus.
    scroller?.querySelector<HTMLElement>(`[data-index="${target}"]`)?.focus({ preventScroll: true })
  }

  const activate = useCallback((next: number) => {
    isBlank.current = false
    setIndex(next)
  }, [])

  useKeys(options.label, [
    { keys: 'j', does: 'Next row', run: () => go(index + 1) },
    { keys: 'k', does: 'Previous row', run: () => go(index - 1) },
    ...(onOpen === undefined
      ? []
      : [{ keys: 'Enter', does: 'Open the row', run: () => row !== undefined && onOpen(row, index) }]),
    ...(onSelect === undefined
      ? []
      : [
          { keys: 'x', does: 'Choose the row', run: () => id !== undefined && onSelect(id, index, 'one') },
          {
            keys: 'shift+x',
            does: 'Choose all rows up to here',
            run: () => id !== undefined && onSelect(id, index, 'up to'),
          },
        ]),
  ])

  const { column, onCellKey } = useActiveCell({
    label: options.label,
    scroller,
    columnCount: options.columns.length,
    index,
    isLoaded: row !== undefined,
    onCellMenu: options.onCellMenu,
  })

  const onKeyDown = (event: KeyboardEvent) => {
    const isOnRow = !event.altKey && event.target instanceof HTMLElement && event.target.role === 'row'
    if (!isOnRow) return
    if (onCellKey(event.key)) return event.preventDefault()
    const steps: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + pageRows(),
      PageUp: index - pageRows(),
      Home: 0,
      End: rowCount - 1,
    }
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    isBlank.current = false
    go(next)
  }

  return { index: Math.min(index, Math.max(0, rowCount - 1)), column, reveal, activate, onKeyDown }
}
