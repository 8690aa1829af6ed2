import { lazy, Suspense } from 'react'
import type { PopoverProps } from './popover-popup.tsx'

const PopoverPopup = lazy(async () => ({ default: (await import('./popover-popup.tsx')).PopoverPopup }))

/** A small form or list that belongs to one button; like a menu, it is loaded once the page stands. */
export function Popover(props: PopoverProps) {
  return (
    <Suspense fallback={props.trigger}>
      <PopoverPopup {...props} />
    </Suspense>
  )
}
