import { mayNot } from '../../access.ts'
import { invalidRequest, notFound } from '../../errors.ts'
import type { CallContext } from '../../http/caller.ts'
import { versionOf } from '../../wire/settings-version.ts'
import type { IfVersion } from '../../wire/settings-version-wire.ts'
import type { Audit, Audited } from '../audit/service.ts'
import type { Identity } from '../identity/service.ts'
import type { KeyHome, Keys } from '../keys/service.ts'
import type { LimitBook, Limits } from './limit-book.ts'
import type { StorageUse } from './storage-use.ts'
import type * as wire from './wire.ts'

/** Limits of entities, which operators set, and of keys, which admins of their entity may narrow further. */
export interface UsageLimits {
  /** @throws 404 for an unknown entity. */
  ofEntity(req: { entity: string }): Promise<wire.EntityLimitsRes>
  /** Replaces the limits of an entity. @throws 404 for an unknown one, 409 for another version. */
  setOfEntity(
    req: { entity: string } & wire.EntityLimits & IfVersion,
    context: CallContext,
  ): Promise<wire.EntityLimitsRes>
  /** @throws 404 for a key that is neither the caller's nor of an entity that it manages. */
  ofKey(req: { key_id: string }, context: CallContext): Promise<wire.KeyLimitsRes>
  /**
   * Replaces the limits of a key.
   * @throws 404 as above; 403 for callers who do not manage its entity; 400 for more than the entity has, or for more
   * than keys may have here, where no operator asks; 409 for another version.
   */
  setOfKey(
    req: { key_id: string } & wire.KeyLimits & IfVersion,
    context: CallContext,
  ): Promise<wire.KeyLimitsRes>
}

export interface UsageLimitsDeps {
  book: LimitBook
  storage: StorageUse
  keys: Pick<Keys, 'home'>
  identity: Pick<Identity, 'checkEntity'>
  audit: Audit
}

export function createUsageLimits({ book, storage, keys, identity, audit }: UsageLimitsDeps): UsageLimits {
  function shownEntity(entity: string): wire.EntityLimitsRes {
    const limits = book.of('entity', entity)
    return { entity, limits, version: versionOf(limits), storage_bytes_used: storage.usedBy(entity) ?? null }
  }

  async function setOfEntity(
    { entity, if_version, ...limits }: { entity: string } & wire.EntityLimits & IfVersion,
    { caller }: CallContext,
  ) {
    await identity.checkEntity(entity)
    const change = { kind: 'entity', name: entity, limits, caller, if_version } as const
    const event: Audited = { action: 'limits.set', entity, subject: entity, details: limits }
    await book.put(change, (tx) => audit.record(caller, event, tx))
    if (limits.storage_bytes != null) await storage.measure(entity)
    return shownEntity(entity)
  }

  function shownKey(key_id: string, { entity }: KeyHome): wire.KeyLimitsRes {
    const limits = book.of('key', key_id)
    return {
      ...{ key_id, entity, limits, version: versionOf(limits) },
      entity_limits: book.of('entity', entity),
    }
  }

  async function homeOf(
    key_id: string,
    { caller }: CallContext,
  ): Promise<{ home: KeyHome; manages: boolean }> {
    const home = await keys.home(key_id)
    const { rights, user } = caller
    const manages =
      home !== undefined && (rights.isOperator || rights.allows('manage', { entity: home.entity }))
    if (home === undefined || (!manages && home.user !== user)) throw notFound('key', key_id)
    return { home, manages }
  }

  async function setOfKey(
    { key_id, if_version, ...limits }: { key_id: string } & wire.KeyLimits & IfVersion,
    context: CallContext,
  ): Promise<wire.KeyLimitsRes> {
    const { home, manages } = await homeOf(key_id, context)
    const { caller } = context
    if (!manages) throw mayNot(caller.rights, `manage ${home.entity}`)
    checkWithin(limits, book.of('entity', home.entity), ({ name, max, value }) => {
      return `${name} of ${home.entity} is ${max}, and a key may not have ${value}`
    })
    if (!caller.rights.isOperator)
      checkWithin(limits, book.keyMost, ({ name, max, value }) => {
        return `${name} of a key is at most ${max} here, and only an operator may store ${value}`
      })
    const event: Audited = {
      action: 'key.limits.set',
      entity: home.entity,
      subject: home.prefix,
      details: limits,
    }
    await book.put({ kind: 'key', name: key_id, limits, caller, if_version }, (tx) =>
      audit.record(caller, event, tx),
    )
    return shownKey(key_id, home)
  }

  return {
    async ofEntity({ entity }) {
      await identity.checkEntity(entity)
      return shownEntity(entity)
    },
    setOfEntity,
    async ofKey({ key_id }, context) {
      const { home } = await homeOf(key_id, context)
      return shownKey(key_id, home)
    },
    setOfKey,
  }
}

/** A key gets no more than its entity has, or the server lets keys have: a larger number would only promise it. */
function checkWithin(
  limits: wire.KeyLimits,
  most: Limits,
  reasonOf: (over: { name: string; max: number; value: number }) => string,
): void {
  const maxima: Record<string, number | undefined> = most
  for (const [name, value] of Object.entries(limits)) {
    const max = maxima[name]
    if (value != null && max !== undefined && value > max)
      throw invalidRequest(reasonOf({ name, max, value }), name)
  }
}
