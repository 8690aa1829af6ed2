import { Autocomplete as Base } from '@base-ui/react/autocomplete'
import { type ReactNode, useState } from 'react'
import { classNames } from './class-names.ts'
import { POPUP, POPUP_ITEM } from './popup-style.ts'

export interface Suggestion {
  value: string
  /** Stands at the end of the line: a count, an example. */
  hint?: string | undefined
}

interface ComboboxProps {
  label: string
  value: string
  suggestions: readonly Suggestion[]
  /** While the person types. */
  onChange: (value: string) => void
  /** Enter, or a suggestion was taken. */
  onCommit: (value: string) => void
  placeholder?: string
  /** What is offered is about to be seen. */
  onOpen?: () => void
  /** Offers are shown as soon as the field has the focus; else by a click, or while the person types. */
  opensOnFocus?: boolean
  /** Shown where nothing matches. */
  empty?: ReactNode
  autoFocus?: boolean
  className?: string
}

/** Any text, with the values that exist offered while it is typed. */
export function Combobox({
  label,
  value,
  suggestions,
  onChange,
  onCommit,
  placeholder,
  onOpen,
  opensOnFocus = false,
  empty,
  autoFocus,
  className,
}: ComboboxProps) {
  const [isOpen, setOpen] = useState(false)
  const show = (next: boolean) => {
    setOpen(next)
    if (next) onOpen?.()
  }
  return (
    <Base.Root
      open={isOpen}
      onOpenChange={show}
      items={suggestions}
      value={value}
      itemToStringValue={(item) => item.value}
      openOnInputClick
      onValueChange={(next, { reason }) => {
        onChange(next)
        if (reason === 'item-press') onCommit(next)
      }}
    >
      <Base.Input
        aria-label={label}
        placeholder={placeholder}
        autoFocus={autoFocus}
        onFocus={() => opensOnFocus && show(true)}
        spellCheck={false}
        className={classNames(
          'h-7 min-w-0 rounded-md border border-line/60 bg-panel px-2 text-sm text-strong placeholder:text-muted coarse:h-11',
          className,
        )}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.currentTarget.hasAttribute('aria-activedescendant'))
            onCommit(value)
        }}
      />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="start" className="z-70">
          <Base.Popup className={classNames(POPUP, 'w-max max-w-120 min-w-(--anchor-width)')}>
            <Base.Empty className="px-2 py-1 text-muted empty:hidden">{empty}</Base.Empty>
            <Base.List>
              {(item: Suggestion) => (
                <Base.Item key={item.value} value={item} className={POPUP_ITEM}>
                  <span className="min-w-0 flex-1 truncate">{item.value}</span>
                  {item.hint !== undefined && (
                    <span className="tabular max-w-60 truncate text-xs text-muted">{item.hint}</span>
                  )}
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
