import { cloneElement, type ReactElement, useState } from 'react'

/** A button of which nothing else is known. */
export type Trigger = ReactElement<{ onClick?: () => void }>

/** A trigger to show while what it opens is being loaded, and whether it was clicked then: that click must not be lost. */
export function useEarlyClick(trigger: Trigger, onClick?: () => void) {
  const [wasClicked, setClicked] = useState(false)
  const waiting = cloneElement(trigger, {
    onClick() {
      setClicked(true)
      onClick?.()
    },
  })
  return { waiting, wasClicked }
}
