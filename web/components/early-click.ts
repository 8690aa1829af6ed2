import { cloneElement, type ReactElement, useState } from 'react'

/** A button of which nothing else is known. */
export type Trigger = ReactElement<{ onClick?: () => void; onPointerDown?: () => void }>

/** A trigger to show while what it opens is being loaded, and whether it was clicked then: that click must not be lost. */
export function useEarlyClick(trigger: Trigger, onClick?: () => void) {
  const [wasClicked, setClicked] = useState(false)
  const open = () => {
    setClicked(true)
    onClick?.()
  }
  // What was loaded may take the button's place before it is let go; then it was pressed, and there is no click.
  const waiting = cloneElement(trigger, { onPointerDown: open, onClick: open })
  return { waiting, wasClicked }
}
