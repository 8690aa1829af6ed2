import { formatCount, formatShare } from '../../components/format.ts'
import type { Writes } from './prometheus.ts'

const PARTS = [
  { kind: 'applied', name: 'on disk', look: 'bg-accent' },
  { kind: 'pending', name: 'waiting for the disk', look: 'bg-warn' },
  { kind: 'rejected', name: 'rejected', look: 'bg-error' },
] as const

/** Accepted = on disk + waiting + rejected: nothing else can become of a row. */
export function WritesBar({ writes }: { writes: Writes }) {
  const shares = PARTS.map((part) => ({ ...part, count: writes[part.kind] }))
  const label = shares.map(({ name, count }) => `${count.toLocaleString('en')} ${name}`).join(', ')
  return (
    <div className="flex flex-col gap-2">
      <div
        role="img"
        aria-label={`${writes.accepted.toLocaleString('en')} rows accepted: ${label}`}
        className="flex h-3 overflow-hidden rounded-full bg-inset"
      >
        {shares.map(({ kind, count, look }) => (
          <span
            key={kind}
            className={look}
            // What is there is seen, however few of how many it is.
            style={{ flexGrow: count, minWidth: count === 0 ? 0 : 3 }}
          />
        ))}
      </div>
      <dl className="tabular flex flex-wrap gap-x-6 gap-y-1 text-xs">
        <Part name="accepted" count={writes.accepted} />
        {shares.map(({ kind, name, count, look }) => (
          <Part key={kind} name={name} count={count} look={look} share={count / writes.accepted} />
        ))}
      </dl>
    </div>
  )
}

function Part({ name, count, look, share }: { name: string; count: number; look?: string; share?: number }) {
  return (
    <div className="flex items-center gap-1.5" title={count.toLocaleString('en')}>
      {look !== undefined && <span aria-hidden className={`size-2 rounded-sm ${look}`} />}
      <dt className="text-muted">{name}</dt>
      <dd className="text-strong">
        {formatCount(count)}
        {share !== undefined && Number.isFinite(share) && (
          <span className="text-muted"> {formatShare(share)}</span>
        )}
      </dd>
    </div>
  )
}
