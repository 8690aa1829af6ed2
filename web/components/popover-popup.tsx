import { Popover as Base } from '@base-ui/react/popover'
import { type ReactNode, Suspense } from 'react'
import { classNames } from './class-names.ts'
import type { Trigger } from './early-click.ts'
import { POPUP } from './popup-style.ts'

export interface PopoverProps {
  /** Read out as the name of what opens. */
  label: string
  trigger: Trigger
  children: ReactNode
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  className?: string
}

/** The popover itself, which `popover.tsx` loads. */
export function PopoverPopup({
  label,
  trigger,
  children,
  isOpen,
  onOpenChange,
  className,
  startsOpen,
}: PopoverProps & { startsOpen: boolean }) {
  const control = {
    ...(isOpen !== undefined && { open: isOpen }),
    ...(onOpenChange !== undefined && { onOpenChange }),
  }
  return (
    <Base.Root defaultOpen={startsOpen} {...control}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="start" className="z-50">
          <Base.Popup aria-label={label} className={classNames(POPUP, className)}>
            <Suspense>{children}</Suspense>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
