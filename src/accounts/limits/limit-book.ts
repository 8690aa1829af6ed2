import type { Limits as CompletionLimits } from '../../config.ts'
import type { Caller } from '../../http/caller.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import { checkVersion } from '../../wire/settings-version.ts'
import type { IfVersion } from '../../wire/settings-version-wire.ts'
import * as queries from './queries.ts'
import { EntityLimits } from './wire.ts'

/** Whose limits: those of a key by its id, or of an entity by its name. */
export type LimitedKind = queries.LimitsRow['kind']

/** Only what is limited. */
export type Limits = { [Name in keyof EntityLimits]?: number }

/**
 * The stored limits that hold: those of a key that no operator stored are at most what keys may have. All of them are
 * kept in memory, since every request asks for two: there are at most as many as keys and entities.
 */
export interface LimitBook {
  /** What a key may have unless an operator lets it have more. */
  keyMost: Limits
  /** Reads them all again. */
  load(): Promise<void>
  of(kind: LimitedKind, name: string): Limits
  /** Entities with a limit of that name. */
  entitiesWith(limit: keyof Limits): string[]
  /** Stores limits with what records the change; they hold once this resolves. @throws 409 for another version. */
  put(
    subject: {
      kind: LimitedKind
      name: string
      limits: EntityLimits
      caller: Pick<Caller, 'user' | 'rights'>
    } & IfVersion,
    record: (tx: ControlTx) => Promise<void>,
  ): Promise<void>
}

const NONE: Limits = {}

const ENTITY_PREFIX = 'entity:'

export function createLimitBook({
  control,
  keyLimits,
}: {
  control: ControlDb
  /** Those of the environment. */
  keyLimits: CompletionLimits
}): LimitBook {
  const keyMost = { running_requests: keyLimits.requestsMax, tokens_per_minute: keyLimits.tokensPerMinute }
  const byName = new Map<string, Limits>()

  function keep(row: StoredLimits & Pick<queries.LimitsRow, 'name'>): void {
    const { kind, name } = row
    const limits = heldOf(row)
    if (Object.keys(limits).length === 0) byName.delete(`${kind}:${name}`)
    else byName.set(`${kind}:${name}`, limits)
  }

  function heldOf({ kind, limits, by_operator }: StoredLimits): Limits {
    const stored = setOf(EntityLimits.parse(JSON.parse(limits)))
    return kind === 'entity' || by_operator === 1 ? stored : atMost(stored, keyMost)
  }

  return {
    keyMost,

    async load() {
      const rows = await queries.listLimits(control)
      byName.clear()
      for (const row of rows) keep(row)
    },

    of: (kind, name) => byName.get(`${kind}:${name}`) ?? NONE,

    entitiesWith: (limit) =>
      [...byName].flatMap(([id, limits]) =>
        id.startsWith(ENTITY_PREFIX) && limits[limit] !== undefined ? [id.slice(ENTITY_PREFIX.length)] : [],
      ),

    async put({ kind, name, limits: wanted, caller, if_version }, record) {
      const limits = setOf(wanted)
      const by = { updated_by: caller.user, by_operator: caller.rights.isOperator ? 1 : 0 }
      const row = { kind, name, limits: JSON.stringify(limits), updated_at: nowIso(), ...by }
      await control.transaction().execute(async (tx) => {
        const before = await queries.findLimits(tx, row)
        checkVersion('The limits', before === undefined ? NONE : heldOf(before), { if_version })
        if (Object.keys(limits).length === 0) await queries.deleteLimits(tx, row)
        else await queries.putLimits(tx, row)
        await record(tx)
      })
      keep(row)
    },
  }
}

type StoredLimits = Pick<queries.LimitsRow, 'kind' | 'limits' | 'by_operator'>

/** The smaller one of each two limits. */
function atMost(limits: Limits, most: Limits): Limits {
  const maxima: Record<string, number | undefined> = most
  return setOf(
    Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [name, Math.min(value, maxima[name] ?? value)]),
    ),
  )
}

/** In one order, so that equal limits have one version. */
function setOf(limits: Partial<EntityLimits>): Limits {
  const set = Object.entries(limits)
    .filter(([, value]) => value != null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // The names are those of the schema that parsed them.
  return Object.fromEntries(set) as Limits
}
