import { formatShare } from '../../components/format.ts'

interface MeterBarProps {
  name: string
  value: number
  max: number
  format: (value: number) => string
}

/** How much of something is taken. */
export function MeterBar({ name, value, max, format }: MeterBarProps) {
  const share = max === 0 ? 0 : Math.min(1, value / max)
  return (
    <div className="flex flex-col gap-1">
      <p className="tabular flex justify-between gap-2 text-xs">
        <span className="text-muted">{name}</span>
        <span className="text-strong">
          {format(value)} <span className="text-muted">of {format(max)}</span>
        </span>
      </p>
      <span
        role="img"
        aria-label={`${name}: ${formatShare(share)}`}
        className="block h-1.5 overflow-hidden rounded-full bg-inset"
      >
        <span
          className={share > 0.9 ? 'block h-full bg-warn' : 'block h-full bg-accent'}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </div>
  )
}
