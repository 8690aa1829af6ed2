import { lazy, Suspense } from 'react'
import type { TooltipProps } from './tooltip-popup.tsx'

const TooltipPopup = lazy(async () => ({ default: (await import('./tooltip-popup.tsx')).TooltipPopup }))

/** A word beside something that has none of its own; what shows it is loaded once the page stands. */
export function Tooltip(props: TooltipProps) {
  return (
    <Suspense fallback={props.children}>
      <TooltipPopup {...props} />
    </Suspense>
  )
}
