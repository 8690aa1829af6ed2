/** A calendar month in UTC. */
export interface Month {
  /** Such as `2026-11`. */
  name: string
  /** Its first moment, and that of the next month; ISO 8601. */
  from: string
  until: string
}

export function monthAt(time: Date): Month {
  const [year, month] = [time.getUTCFullYear(), time.getUTCMonth()]
  const from = new Date(Date.UTC(year, month)).toISOString()
  return { name: from.slice(0, 7), from, until: new Date(Date.UTC(year, month + 1)).toISOString() }
}
