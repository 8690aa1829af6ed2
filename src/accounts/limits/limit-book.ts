import { checkVersion } from '../../settings-version.ts'
import type { IfVersion } from '../../settings-version-wire.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import * as queries from './queries.ts'
import { EntityLimits } from './wire.ts'

/** Whose limits: those of a key by its id, or of an entity by its name. */
export type LimitedKind = queries.LimitsRow['kind']

/** Only what is limited. */
export type Limits = { [Name in keyof EntityLimits]?: number }

/**
 * The stored limits. All of them are kept in memory, since every request asks for two: there are at most as many as
 * keys and entities.
 */
export interface LimitBook {
  /** Reads them all again. */
  load(): Promise<void>
  of(kind: LimitedKind, name: string): Limits
  /** Entities with a limit of that name. */
  entitiesWith(limit: keyof Limits): string[]
  /** Stores limits with what records the change; they hold once this resolves. @throws 409 for another version. */
  put(
    subject: { kind: LimitedKind; name: string; limits: EntityLimits; user: string } & IfVersion,
    record: (tx: ControlTx) => Promise<void>,
  ): Promise<void>
}

const NONE: Limits = {}

const ENTITY_PREFIX = 'entity:'

export function createLimitBook({ control }: { control: ControlDb }): LimitBook {
  const byName = new Map<string, Limits>()

  function keep(kind: LimitedKind, name: string, limits: Limits): void {
    if (Object.keys(limits).length === 0) byName.delete(`${kind}:${name}`)
    else byName.set(`${kind}:${name}`, limits)
  }

  return {
    async load() {
      const rows = await queries.listLimits(control)
      byName.clear()
      for (const { kind, name, limits } of rows) keep(kind, name, storedIn(limits))
    },

    of: (kind, name) => byName.get(`${kind}:${name}`) ?? NONE,

    entitiesWith: (limit) =>
      [...byName].flatMap(([id, limits]) =>
        id.startsWith(ENTITY_PREFIX) && limits[limit] !== undefined ? [id.slice(ENTITY_PREFIX.length)] : [],
      ),

    async put({ kind, name, limits: wanted, user, if_version }, record) {
      const limits = setOf(wanted)
      const row = { kind, name, limits: JSON.stringify(limits), updated_at: nowIso(), updated_by: user }
      await control.transaction().execute(async (tx) => {
        const before = await queries.findLimits(tx, row)
        checkVersion('The limits', before === undefined ? NONE : storedIn(before.limits), { if_version })
        if (Object.keys(limits).length === 0) await queries.deleteLimits(tx, row)
        else await queries.putLimits(tx, row)
        await record(tx)
      })
      keep(kind, name, limits)
    },
  }
}

function storedIn(text: string): Limits {
  return setOf(EntityLimits.parse(JSON.parse(text)))
}

/** In one order, so that equal limits have one version. */
function setOf(limits: EntityLimits): Limits {
  const set = Object.entries(limits)
    .filter(([, value]) => value != null)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  // The names are those of the schema that parsed them.
  return Object.fromEntries(set) as Limits
}
