import { Select as Base } from '@base-ui/react/select'
import { Check, ChevronDown } from 'lucide-react'
import { classNames } from './class-names.ts'
import { POPUP, POPUP_ITEM } from './popup-style.ts'

interface Option<Value extends string> {
  value: Value
  label: string
}

interface SelectProps<Value extends string> {
  label: string
  value: Value
  options: readonly Option<Value>[]
  onChange: (value: Value) => void
  className?: string
}

/** One of a few known values; {@link Combobox} is for many. */
export function Select<Value extends string>({
  label,
  value,
  options,
  onChange,
  className,
}: SelectProps<Value>) {
  return (
    <Base.Root
      items={options}
      value={value}
      onValueChange={(next) => {
        if (next !== null) onChange(next)
      }}
    >
      <Base.Trigger
        aria-label={label}
        className={classNames(
          'inline-flex h-7 min-w-0 items-center justify-between gap-1.5 rounded-md border border-line/60 bg-panel px-2 text-sm hover:bg-hover coarse:h-11',
          className,
        )}
      >
        <Base.Value className="truncate" />
        <ChevronDown size={14} className="shrink-0 text-muted" aria-hidden />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner sideOffset={4} alignItemWithTrigger={false} className="z-50">
          <Base.Popup className={classNames(POPUP, 'min-w-(--anchor-width)')}>
            {options.map((option) => (
              <Base.Item
                key={option.value}
                value={option.value}
                className={classNames(POPUP_ITEM, 'pe-7 relative')}
              >
                <Base.ItemText>{option.label}</Base.ItemText>
                <Base.ItemIndicator className="absolute end-2">
                  <Check size={14} aria-hidden />
                </Base.ItemIndicator>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
