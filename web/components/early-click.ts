import { cloneElement, type ReactElement, useRef, useState } from 'react'

/** A button of which nothing else is known. */
export type Trigger = ReactElement<{ onClick?: () => void; onPointerDown?: () => void }>

/**
 * A trigger to show while what it opens is being loaded, and whether it was clicked then: that click must not be lost.
 * What was loaded may take the button's place while it is held down; then no click comes, and what opened at once would
 * be closed by the release. So a press counts once it has ended.
 */
export function useEarlyClick(trigger: Trigger, onClick?: () => void) {
  const [wasClicked, setClicked] = useState(false)
  const isOpened = useRef(false)
  const open = () => {
    if (isOpened.current) return
    isOpened.current = true
    setClicked(true)
    onClick?.()
  }
  const onPointerDown = () => {
    const ended = new AbortController()
    const { signal } = ended
    // The events of the release itself come first.
    addEventListener('pointerup', () => void setTimeout(open), { once: true, signal })
    addEventListener('pointercancel', () => ended.abort(), { once: true, signal })
  }
  return { waiting: cloneElement(trigger, { onPointerDown, onClick: open }), wasClicked }
}
