import { Suspense } from 'react'
import { lazyPart } from './lazy-part.ts'
import type { TooltipProps } from './tooltip-popup.tsx'

const TooltipPopup = lazyPart(async () => (await import('./tooltip-popup.tsx')).TooltipPopup)

/** A word beside something that has none of its own; what shows it is loaded once the page stands. */
export function Tooltip(props: TooltipProps) {
  return (
    <Suspense fallback={props.children}>
      <TooltipPopup {...props} />
    </Suspense>
  )
}
