import { LRUCache } from 'lru-cache'
import type { Peers } from '../stores/control-db/peers.ts'
import type { ControlDb } from '../stores/control-db/port.ts'
import * as queries from './queries.ts'
import { type ReadyRules, readyRules } from './run-redaction.ts'
import { type Rule, Rules } from './wire.ts'

/** Projects whose rules, or that they have none, are remembered; one that is forgotten costs a statement. */
const PROJECTS_SEEN_MAX = 10_000

/** A rule takes as much memory as some projects without any: of rules, 1,000 are remembered. */
const RULE_WEIGHT = 10

/** What is remembered of a project: its rules, or that it has none. */
export interface Known {
  ready: ReadyRules | undefined
}

/** The rules of projects, in memory. */
export interface KnownRules {
  /** @throws 503 where they cannot be read */
  of(projectId: string): Promise<Known>
  /** Reads them again, once others are stored. */
  forget(projectId: string): void
}

export function createKnownRules({ control, peers }: { control: ControlDb; peers: Peers }): KnownRules {
  const known = new LRUCache<string, Promise<Known>>({ maxSize: PROJECTS_SEEN_MAX })

  async function load(projectId: string): Promise<Known> {
    const rules = rulesIn(await queries.findRules(control, projectId))
    return { ready: rules.length === 0 ? undefined : readyRules(rules) }
  }

  function of(projectId: string): Promise<Known> {
    const cached = known.get(projectId)
    if (cached !== undefined) return cached
    const loading = load(projectId)
    known.set(projectId, loading, { size: 1 })
    loading.then(
      (loaded) => {
        if (known.peek(projectId) === loading) known.set(projectId, loading, { size: sizeOf(loaded) })
      },
      // A failure is not remembered, and the request that it fails stores nothing.
      () => {
        if (known.peek(projectId) === loading) known.delete(projectId)
      },
    )
    return loading
  }

  peers.onChange(['redaction_rules'], () => known.clear())
  return { of, forget: (projectId) => void known.delete(projectId) }
}

/** The rules of a row; none without one. */
export function rulesIn(row: { rules: string } | undefined): Rule[] {
  return Rules.parse(JSON.parse(row?.rules ?? '[]'))
}

function sizeOf({ ready }: Known): number {
  return 1 + (ready?.rules.length ?? 0) * RULE_WEIGHT
}
