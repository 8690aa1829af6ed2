import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { POPUP_ITEM } from './popup-style.ts'

export interface Command {
  label: string
  /** Other words by which it is found. */
  also?: string
  hint?: string
  run: () => void
}

/** Everything that can be done or gone to, found by typing. */
export function CommandPalette({
  commands,
  isOpen,
  onClose,
}: {
  commands: readonly Command[]
  isOpen: boolean
  onClose: () => void
}) {
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className="fixed inset-0 z-40 bg-black/35" />
        <BaseDialog.Popup
          data-modal
          aria-label="Commands"
          className="raised-shade animate-rise fixed top-[12vh] left-1/2 z-50 flex max-h-[60vh] w-[min(34rem,calc(100vw-24px))] -translate-x-1/2 flex-col rounded-lg bg-raised outline-none"
        >
          <Base.Root
            items={commands}
            inline
            open
            autoHighlight="always"
            itemToStringValue={(command) => `${command.label} ${command.also ?? ''}`}
          >
            <div className="flex items-center gap-2 border-b border-hair px-3">
              <Search size={16} className="text-muted" aria-hidden />
              <Base.Input
                aria-label="Find a command"
                placeholder="Go to or do…"
                className="h-11 flex-1 bg-transparent text-base text-strong outline-none placeholder:text-muted"
              />
            </div>
            <Base.Empty className="px-4 py-3 text-muted empty:hidden">Nothing by that name</Base.Empty>
            <Base.List className="thin-scroll min-h-0 overflow-y-auto p-1 empty:hidden">
              {(command: Command) => (
                <Base.Item
                  key={command.label}
                  value={command}
                  className={POPUP_ITEM}
                  onClick={() => {
                    onClose()
                    command.run()
                  }}
                >
                  <span className="flex-1 truncate">{command.label}</span>
                  {command.hint !== undefined && <span className="text-xs text-muted">{command.hint}</span>}
                </Base.Item>
              )}
            </Base.List>
          </Base.Root>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  )
}
