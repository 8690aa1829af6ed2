import { Tooltip as Base } from '@base-ui/react/tooltip'
import type { ReactElement, ReactNode } from 'react'
import { Keys } from './key-caps.tsx'

export interface TooltipProps {
  text: ReactNode
  /** The one element that it belongs to. */
  children: ReactElement
  /** Keys that do the same. */
  keys?: string | undefined
}

/** Milliseconds that a pointer rests before the word appears. */
const DELAY_MS = 400

/** The tooltip itself, which `tooltip.tsx` loads. */
export function TooltipPopup({ text, children, keys }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger delay={DELAY_MS} render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-60">
          <Base.Popup className="raised-shade max-w-80 rounded-md bg-raised px-2 py-1 text-xs whitespace-pre-line text-normal">
            {text}
            {keys !== undefined && <Keys keys={keys} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
