import { formatShare } from '../../components/format.ts'

interface BarPart {
  name: string
  value: number
  /** A class that colours its part of the bar. */
  look: string
}

interface StackedBarProps {
  /** Says in words what is drawn. */
  label: string
  parts: readonly BarPart[]
  format: (value: number) => string
  /** Stands first in the legend. */
  total: { name: string; value: number }
}

/** What a whole is made of: one bar, and its legend with numbers. */
export function StackedBar({ label, parts, format, total }: StackedBarProps) {
  return (
    <div className="flex flex-col gap-2">
      <div role="img" aria-label={label} className="flex h-3 overflow-hidden rounded-full bg-inset">
        {parts.map(({ name, value, look }) => (
          <span
            key={name}
            className={look}
            // What is there is seen, however few of how many it is.
            style={{ flexGrow: value, minWidth: value === 0 ? 0 : 3 }}
          />
        ))}
      </div>
      <dl className="tabular flex flex-wrap gap-x-6 gap-y-1 text-xs">
        <Entry name={total.name} value={total.value} format={format} />
        {parts.map((part) => (
          <Entry key={part.name} {...part} format={format} share={part.value / total.value} />
        ))}
      </dl>
    </div>
  )
}

interface EntryProps {
  name: string
  value: number
  format: (value: number) => string
  look?: string
  share?: number
}

function Entry({ name, value, format, look, share }: EntryProps) {
  return (
    <div className="flex items-center gap-1.5" title={value.toLocaleString('en')}>
      {look !== undefined && <span aria-hidden className={`size-2 rounded-sm ${look}`} />}
      <dt className="text-muted">{name}</dt>
      <dd className="text-strong">
        {format(value)}
        {share !== undefined && share > 0 && <span className="text-muted"> {formatShare(share)}</span>}
      </dd>
    </div>
  )
}
