import { Suspense } from 'react'
import { useEarlyClick } from './early-click.ts'
import { lazyPart } from './lazy-part.ts'
import type { PopoverProps } from './popover-popup.tsx'

const PopoverPopup = lazyPart(async () => (await import('./popover-popup.tsx')).PopoverPopup)

/** A small form or list that belongs to one button; like a menu, it is loaded once the page stands. */
export function Popover(props: PopoverProps) {
  const { waiting, wasClicked } = useEarlyClick(props.trigger, () => props.onOpenChange?.(true))
  return (
    <Suspense fallback={waiting}>
      <PopoverPopup key={wasClicked ? 'clicked' : 'new'} {...props} startsOpen={wasClicked} />
    </Suspense>
  )
}
