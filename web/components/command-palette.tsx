import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { Dialog as BaseDialog } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { PALETTE, PALETTE_BACKDROP, PALETTE_FIELD, PALETTE_LINE, type PaletteText } from './early-palette.tsx'
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
  text,
  onText,
  onClose,
}: PaletteText & { commands: readonly Command[] }) {
  return (
    <BaseDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={PALETTE_BACKDROP} />
        <BaseDialog.Popup data-modal aria-label="Commands" className={PALETTE}>
          <Base.Root
            items={commands}
            inline
            open
            autoHighlight="always"
            value={text}
            onValueChange={(next, { reason }) => reason !== 'item-press' && onText(next)}
            itemToStringValue={(command) => `${command.label} ${command.also ?? ''}`}
          >
            <div className={PALETTE_LINE}>
              <Search size={16} className="text-muted" aria-hidden />
              <Base.Input
                {...PALETTE_FIELD}
                autoFocus
                // What was typed before the palette was loaded goes on at its end.
                onFocus={({ currentTarget }) => currentTarget.setSelectionRange(text.length, text.length)}
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
