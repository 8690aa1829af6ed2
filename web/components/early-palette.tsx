import { Search } from 'lucide-react'

/** Behind the palette. */
export const PALETTE_BACKDROP = 'fixed inset-0 z-40 bg-scrim'

/** The palette itself, loaded or not: it must not move once it is. */
export const PALETTE =
  'raised-shade animate-rise fixed top-[12vh] left-1/2 z-50 flex max-h-[60vh] w-[min(34rem,calc(100vw-24px))] -translate-x-1/2 flex-col rounded-lg bg-raised outline-none'

/** The line with its field. */
export const PALETTE_LINE = 'flex items-center gap-2 border-b border-hair px-3'

export const PALETTE_FIELD = {
  'aria-label': 'Find a command',
  placeholder: 'Go to or do…',
  className: 'h-11 flex-1 bg-transparent text-base text-strong outline-none placeholder:text-muted',
}

export interface PaletteText {
  /** What was typed so far. */
  text: string
  onText: (text: string) => void
  onClose: () => void
}

/** Stands for the palette until it is loaded, so that what is typed goes into its field and not to the page. */
export function EarlyPalette({ text, onText, onClose }: PaletteText) {
  return (
    <>
      <div className={PALETTE_BACKDROP} onClick={onClose} aria-hidden />
      <div role="dialog" aria-label="Commands" data-modal className={PALETTE}>
        <div className={PALETTE_LINE}>
          <Search size={16} className="text-muted" aria-hidden />
          <input
            {...PALETTE_FIELD}
            // biome-ignore lint/a11y/noAutofocus: a person has opened it to type into it
            autoFocus
            value={text}
            onChange={(event) => onText(event.currentTarget.value)}
            onKeyDown={(event) => event.key === 'Escape' && onClose()}
          />
        </div>
      </div>
    </>
  )
}
