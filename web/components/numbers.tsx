import { classNames } from './class-names.ts'
import { formatCost, formatCount, formatDuration } from './format.ts'

type Maybe = number | null | undefined

interface FormattedProps {
  value: Maybe
  format: (value: Maybe) => string
  /** Of the exact value in the tooltip. */
  unit: string
  className?: string | undefined
}

function Formatted({ value, format, unit, className }: FormattedProps) {
  const exact =
    value == null ? undefined : `${value.toLocaleString('en', { maximumFractionDigits: 12 })} ${unit}`.trim()
  return (
    <span
      className={classNames('tabular whitespace-nowrap', value == null && 'text-muted', className)}
      title={exact}
    >
      {format(value)}
    </span>
  )
}

interface NumberProps {
  value: Maybe
  className?: string
}

/** Milliseconds as people read them. */
export function Duration(props: NumberProps) {
  return <Formatted format={formatDuration} unit="ms" {...props} />
}

/** Tokens, calls, anything counted. */
export function Count({ unit = '', ...props }: NumberProps & { unit?: string }) {
  return <Formatted format={formatCount} unit={unit} {...props} />
}

/** US dollars; what has no price is not free. */
export function Cost(props: NumberProps) {
  return <Formatted format={formatCost} unit="USD" {...props} />
}
