import type { ReactNode } from 'react'

/** Names with values, one a line. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1.5">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 text-strong wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
