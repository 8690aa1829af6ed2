import { LRUCache } from 'lru-cache'
import { tooManyRequests } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Audit } from '../audit/service.ts'
import type { Keys } from '../keys/service.ts'
import { findLimits, type LimitsRow, putLimits } from './queries.ts'
import { createRequestWindows, type RequestsLeft } from './request-windows.ts'
import type * as wire from './wire.ts'

/** Subjects whose limits are remembered. */
const REMEMBERED_MAX = 20_000

/** Changes through this server take effect at once; those of another process within this time. */
const REMEMBERED_MS = 2_000

/** What an entity or a key may use. */
export type Limited = Omit<LimitsRow, 'subject' | 'updated_by' | 'updated_at'>

const NONE: Limited = { requests_per_minute: null, tokens_per_month: null, usd_per_month: null, warn_at: 0.8 }

/** Limits of entities, which operators set, and of keys, which those set who manage them. */
export interface StoredLimits {
  ofEntity(req: wire.EntityPath): Promise<wire.Limits>
  setOfEntity(req: wire.EntityPath & wire.LimitsReq, context: CallContext): Promise<wire.Limits>
  /** @throws 404 for a key that the caller does not manage. */
  ofKey(req: wire.KeyLimitsPath, context: CallContext): Promise<wire.Limits>
  setOfKey(req: wire.KeyLimitsPath & wire.LimitsReq, context: CallContext): Promise<wire.Limits>
  /** The limits that apply to a subject, `entity:NAME` or `key:ID`. */
  limitedOf(subject: string): Promise<Limited>
  /**
   * Counts a request of a key, for the entity that it is about.
   * @returns what is left where there is a limit, of the tighter one
   * @throws 429 with the limit and the time until the next minute
   */
  countRequest(caller: Caller, entity: string | undefined): Promise<RequestsLeft | undefined>
}

export interface LimitsDeps {
  control: ControlDb
  keys: Pick<Keys, 'managed'>
  audit: Audit
}

export function createLimits({ control, keys, audit }: LimitsDeps): StoredLimits {
  const windows = createRequestWindows()
  const remembered = new LRUCache<string, Limited>({ max: REMEMBERED_MAX, ttl: REMEMBERED_MS })

  async function limitedOf(subject: string): Promise<Limited> {
    const known = remembered.get(subject)
    if (known !== undefined) return known
    const limited = (await findLimits(control, subject)) ?? NONE
    remembered.set(subject, limited)
    return limited
  }

  async function read(subject: string): Promise<wire.Limits> {
    return toWire(await findLimits(control, subject))
  }

  async function set(
    subject: string,
    limits: wire.LimitsReq,
    { caller, entity }: { caller: Caller; entity: string | null },
  ): Promise<wire.Limits> {
    const row = { subject, ...limits, updated_by: caller.user, updated_at: nowIso() }
    await control.transaction().execute(async (tx) => {
      await putLimits(tx, row)
      await audit.record(caller, { action: 'limits.set', entity, subject, details: limits }, tx)
    })
    remembered.delete(subject)
    return toWire(row)
  }

  async function countRequest(
    { keyId }: Caller,
    entity: string | undefined,
  ): Promise<RequestsLeft | undefined> {
    const subjects = [`key:${keyId}`, ...(entity === undefined ? [] : [`entity:${entity}`])]
    let tightest: RequestsLeft | undefined
    for (const subject of subjects) {
      const { requests_per_minute: limit } = await limitedOf(subject)
      if (limit === null) continue
      const left = windows.take(subject, limit)
      if (left.remaining < 0) throw tooMany(subject, left)
      if (tightest === undefined || left.remaining < tightest.remaining) tightest = left
    }
    return tightest
  }

  return {
    ofEntity: ({ entity }) => read(`entity:${entity}`),
    setOfEntity: ({ entity, ...limits }, { caller }) => set(`entity:${entity}`, limits, { caller, entity }),
    async ofKey({ key_id }, { caller }) {
      await keys.managed(key_id, caller)
      return read(`key:${key_id}`)
    },
    async setOfKey({ key_id, ...limits }, { caller }) {
      const { entity } = await keys.managed(key_id, caller)
      return set(`key:${key_id}`, limits, { caller, entity })
    },
    limitedOf,
    countRequest,
  }
}

function tooMany(subject: string, { limit, resetSeconds }: RequestsLeft) {
  const whose = subject.startsWith('key:') ? 'this key' : subject.slice('entity:'.length)
  return tooManyRequests(`${limit} requests a minute are the limit of ${whose}`, resetSeconds)
}

function toWire(row: LimitsRow | undefined): wire.Limits {
  if (row === undefined) return { ...NONE, updated_by: null, updated_at: null }
  const { subject: _, ...limits } = row
  return limits
}
