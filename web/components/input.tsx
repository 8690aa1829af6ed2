import type { ComponentProps, ReactNode } from 'react'
import { classNames } from './class-names.ts'

interface InputProps extends Omit<ComponentProps<'input'>, 'className'> {
  /** Read out; there is no text beside the field. */
  label: string
  icon?: ReactNode
  /** Stands at the end of the field: a count, a button. */
  end?: ReactNode
  className?: string
  onValueChange?: (value: string) => void
  ref?: React.Ref<HTMLInputElement>
}

/** One line of text. */
export function Input({ label, icon, end, className, onValueChange, ...rest }: InputProps) {
  return (
    <span
      className={classNames(
        'flex h-7 min-w-0 items-center gap-1.5 rounded-md border border-line/60 bg-panel px-2 text-muted focus-within:border-focus focus-within:outline-1 focus-within:outline-focus coarse:h-11',
        className,
      )}
    >
      {icon}
      <input
        onChange={(event) => onValueChange?.(event.currentTarget.value)}
        aria-label={label}
        autoComplete="off"
        spellCheck={false}
        className="min-w-0 flex-1 bg-transparent text-sm text-strong outline-none placeholder:text-muted coarse:text-base"
        {...rest}
      />
      {end}
    </span>
  )
}
