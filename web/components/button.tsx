import type { ButtonHTMLAttributes, ReactElement, ReactNode } from 'react'
import { classNames } from './class-names.ts'
import { Tooltip } from './tooltip.tsx'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent text-on-accent hover:brightness-110',
  plain: 'border border-hair bg-panel text-normal hover:bg-hover',
  quiet: 'text-muted hover:bg-hover hover:text-strong',
  danger: 'border border-hair bg-panel text-error hover:bg-error-soft',
}

const SHAPE =
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md whitespace-nowrap select-none disabled:pointer-events-none disabled:opacity-50 coarse:min-h-11'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look
  /** 24 px instead of 28 px, for toolbars inside panels. */
  size?: 'normal' | 'small'
  icon?: ReactNode
  ref?: React.Ref<HTMLButtonElement>
}

/** The classes of a button, for a link that looks like one. */
export function buttonLook(look: Look, size: 'normal' | 'small' = 'normal'): string {
  return classNames(SHAPE, LOOKS[look], size === 'small' ? 'h-6 px-2 text-xs' : 'h-7 px-2.5 text-sm')
}

/** A button with a word; at most one `primary` is in view. */
export function Button({ look = 'plain', size = 'normal', icon, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={classNames(buttonLook(look, size), className)} {...rest}>
      {icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon'> {
  /** Read out, and shown as the tooltip. */
  label: string
  icon: ReactElement
  /** Keys that do the same. */
  keys?: string | undefined
}

/** A button that is only an icon; its name is a tooltip away. */
export function IconButton({
  label,
  icon,
  keys,
  look = 'quiet',
  size = 'normal',
  className,
  ...rest
}: IconButtonProps) {
  const box = size === 'small' ? 'size-6' : 'size-7'
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        aria-label={label}
        className={classNames(SHAPE, LOOKS[look], box, 'coarse:min-w-11', className)}
        {...rest}
      >
        {icon}
      </button>
    </Tooltip>
  )
}
