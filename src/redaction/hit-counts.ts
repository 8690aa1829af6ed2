import type { Log } from '../log.ts'
import { repeated } from '../repeated.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import * as queries from './queries.ts'
import type { Action, Builtin, Rule } from './wire.ts'

/** A killed server loses at most these hits; a commit for each redacted request would cost more than the redaction. */
const FLUSH_MS = 1_000

/** Rules whose hits wait for the database while it fails, at about 200 bytes each. */
const PENDING_MAX = 10_000

/** Hits since the start by what rules look for, for metrics. */
export interface HitTotal {
  match: Exclude<Rule['match'], 'builtin'> | Builtin
  action: Action
  hits: number
}

/** Counts what rules find, and adds it to the database once a second. */
export interface HitCounts {
  /** `hits` are those of each rule, by its index. */
  record(projectId: string, rules: readonly Rule[], hits: readonly number[]): void
  /** Drops what waits for the database, of a project that is erased. */
  forget(projectId: string): void
  /** Resolves when all hits recorded so far can be read. */
  flush(): Promise<void>
  totals(): HitTotal[]
  start(): AsyncDisposable
}

export function createHitCounts({ control, log }: { control: ControlDb; log: Log }): HitCounts {
  let pending = new Map<string, { project_id: string; rule: string; hits: number }>()
  const totals = new Map<string, HitTotal>()

  function record(projectId: string, rules: readonly Rule[], hits: readonly number[]): void {
    for (const [index, rule] of rules.entries()) {
      const found = hits[index] ?? 0
      if (found === 0) continue
      addPending({ project_id: projectId, rule: rule.name, hits: found })
      addTotal(rule, found)
    }
  }

  function addPending(row: { project_id: string; rule: string; hits: number }): void {
    const key = `${row.project_id} ${row.rule}`
    const known = pending.get(key)
    if (known !== undefined) known.hits += row.hits
    else if (pending.size < PENDING_MAX) pending.set(key, row)
    else log.warn({ ...row }, 'hits of a redaction rule were not counted: too many wait for the database')
  }

  function addTotal(rule: Rule, hits: number): void {
    const match = rule.match === 'builtin' ? rule.builtin : rule.match
    const key = `${match} ${rule.action}`
    const total = totals.get(key) ?? { match, action: rule.action, hits: 0 }
    totals.set(key, { ...total, hits: total.hits + hits })
  }

  function forget(projectId: string): void {
    for (const [key, { project_id }] of pending) if (project_id === projectId) pending.delete(key)
  }

  async function flush(): Promise<void> {
    const rows = [...pending.values()]
    if (rows.length === 0) return
    pending = new Map()
    try {
      await control.transaction().execute(async (tx) => {
        for (const row of rows) await queries.addHits(tx, row)
      })
    } catch (error) {
      log.warn({ err: error }, 'hits of redaction rules could not be stored yet')
      for (const row of rows) addPending(row)
    }
  }

  return { record, forget, flush, totals: () => [...totals.values()], start: () => repeated(FLUSH_MS, flush) }
}
