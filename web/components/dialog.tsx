import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import { type ReactNode, useRef } from 'react'
import { Button, IconButton } from './button.tsx'
import { classNames } from './class-names.ts'

interface DialogProps {
  title: string
  isOpen: boolean
  onClose: () => void
  children: ReactNode
  className?: string
}

/** A window over the page that must be answered or closed. */
export function Dialog({ title, isOpen, onClose, children, className }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  return (
    <Base.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-scrim" />
        <Base.Popup
          data-modal
          ref={popup}
          // The button that closes would show its tooltip, and the first escape would only close that.
          initialFocus={popup}
          className={classNames(
            'raised-shade animate-rise fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[min(34rem,calc(100vw-24px))] -translate-x-1/2 flex-col rounded-lg bg-raised outline-none',
            className,
          )}
        >
          <header className="flex items-center justify-between gap-2 border-b border-hair py-2 ps-4 pe-2">
            <Base.Title className="truncate text-base font-strong text-strong">{title}</Base.Title>
            <Base.Close render={<IconButton label="Close" icon={<X size={16} />} />} />
          </header>
          <div className="thin-scroll min-h-0 overflow-y-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  )
}

interface ConfirmProps extends Omit<DialogProps, 'children' | 'className'> {
  /** What goes, counted: "14 checkpoints, 3 of them served". */
  consequence: ReactNode
  /** The verb on the button. */
  action: string
  onConfirm: () => void
}

/** Before something large is destroyed; small things are done at once and can be undone. */
export function ConfirmDialog({ consequence, action, onConfirm, onClose, ...rest }: ConfirmProps) {
  return (
    <Dialog onClose={onClose} {...rest}>
      <p className="text-normal">{consequence}</p>
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          look="danger"
          onClick={() => {
            onConfirm()
            onClose()
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
