import { useEffect, useState } from 'react'

/** Whether the columns need more than the width there is, so that the table scrolls sideways. */
export function useIsWide(scroller: HTMLElement | null, columnsPx: number): boolean {
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    if (scroller === null) return
    // Told by the browser after layout: nothing is measured while the table scrolls.
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWide(columnsPx > Math.ceil(entry.contentRect.width))
    })
    observer.observe(scroller)
    return () => observer.disconnect()
  }, [scroller, columnsPx])
  return isWide
}
