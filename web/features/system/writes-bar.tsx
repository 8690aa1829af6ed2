import { formatCount } from '../../components/format.ts'
import type { Writes } from './prometheus.ts'
import { StackedBar } from './stacked-bar.tsx'

const PARTS = [
  { kind: 'applied', name: 'on disk', look: 'bg-accent' },
  { kind: 'pending', name: 'waiting for the disk', look: 'bg-warn' },
  { kind: 'rejected', name: 'rejected', look: 'bg-error' },
] as const

/** Accepted = on disk + waiting + rejected: a row has no other outcome. */
export function WritesBar({ writes }: { writes: Writes }) {
  const parts = PARTS.map(({ kind, name, look }) => ({ name, look, value: writes[kind] }))
  const words = parts.map(({ name, value }) => `${value.toLocaleString('en')} ${name}`).join(', ')
  return (
    <StackedBar
      label={`${writes.accepted.toLocaleString('en')} rows accepted: ${words}`}
      parts={parts}
      format={formatCount}
      total={{ name: 'accepted', value: writes.accepted }}
    />
  )
}
