import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Rows drawn beyond what is seen, most of them where the table scrolls to, so that a turn of the wheel finds them. */
const AHEAD = 12
const BEHIND = 2
/** A table that has not scrolled for this long is at rest. */
const REST_MS = 250

interface RowWindowOptions {
  scroller: HTMLElement | null
  rowCount: number
  rowPx: number
  /** What stays above the rows. */
  headerPx: number
}

interface View {
  /** The first row in view. */
  top: number
  /** As many as fit in, with the parts of two. */
  rows: number
  /** Which way it went last. */
  way: 'up' | 'down'
  isMoving: boolean
}

/** The rows that a table has to draw. */
export interface RowWindow {
  first: number
  last: number
  isMoving: boolean
  /** Brings a row into view. */
  reveal: (index: number) => void
}

/**
 * Which of any number of rows, all of one height, a table has to draw, whether it is moving, and how to bring one of
 * them into view. Nothing is kept for each row, so that a hundred thousand cost what ten do.
 */
export function useRowWindow({ scroller, rowCount, rowPx, headerPx }: RowWindowOptions): RowWindow {
  const [view, setView] = useState<View>({ top: 0, rows: 0, way: 'down', isMoving: false })
  useEffect(() => {
    if (scroller === null) return
    let rest: ReturnType<typeof setTimeout> | undefined
    const settle = () => setView((old) => (old.isMoving ? { ...old, isMoving: false } : old))
    const onScroll = () => {
      const top = Math.floor(scroller.scrollTop / rowPx)
      setView((old) => (old.top === top ? old : movedTo(old, top)))
      clearTimeout(rest)
      rest = setTimeout(settle, REST_MS)
    }
    const observer = new ResizeObserver(([entry]) => {
      const rows = Math.ceil((entry?.contentRect.height ?? 0) / rowPx) + 1
      setView((old) => (old.rows === rows ? old : { ...old, rows }))
    })
    onScroll()
    observer.observe(scroller)
    scroller.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      clearTimeout(rest)
      observer.disconnect()
      scroller.removeEventListener('scroll', onScroll)
    }
  }, [scroller, rowPx])
  // Rows of another height: the first one in view stays the first.
  const drawnPx = useRef(rowPx)
  useLayoutEffect(() => {
    if (scroller !== null && drawnPx.current !== rowPx)
      scroller.scrollTop = (scroller.scrollTop / drawnPx.current) * rowPx
    drawnPx.current = rowPx
  }, [scroller, rowPx])
  const reveal = useCallback(
    (index: number) => {
      if (scroller === null) return
      const highest = index * rowPx
      const lowest = headerPx + highest + rowPx - scroller.clientHeight
      if (scroller.scrollTop > highest) scroller.scrollTop = highest
      else if (scroller.scrollTop < lowest) scroller.scrollTop = lowest
    },
    [scroller, rowPx, headerPx],
  )
  // A list that got shorter leaves the view beyond its end until the browser scrolls back.
  const top = Math.min(view.top, Math.max(0, rowCount - view.rows))
  return {
    first: Math.max(0, top - (view.way === 'up' ? AHEAD : BEHIND)),
    last: Math.min(rowCount, top + view.rows + (view.way === 'up' ? BEHIND : AHEAD)) - 1,
    isMoving: view.isMoving,
    reveal,
  }
}

function movedTo(old: View, top: number): View {
  return { ...old, top, way: top < old.top ? 'up' : 'down', isMoving: true }
}
