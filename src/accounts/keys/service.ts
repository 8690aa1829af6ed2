import { mayNot, type Place, placeOf, requireRight } from '../../access.ts'
import { conflict, notFound } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { Peers } from '../../stores/control-db/peers.ts'
import type { ControlDb } from '../../stores/control-db/port.ts'
import type { SecretKey } from '../../stores/secret-key.ts'
import { DAY_MS, isoIn, nowIso } from '../../time.ts'
import { toPage } from '../../wire/page-wire.ts'
import type { Audit, Audited } from '../audit/service.ts'
import { isUnlimited } from '../identity/rights.ts'
import type { Identity } from '../identity/service.ts'
import { parseProjectId } from '../project-name.ts'
import type { UserRow } from '../user-queries.ts'
import { createKeyCallers, hashOf, type KeyCallers } from './key-callers.ts'
import { endWithKey } from './key-end.ts'
import { newKeyText } from './key-text.ts'
import type { KeyRow } from './queries.ts'
import * as queries from './queries.ts'
import type * as wire from './wire.ts'

/** A person or service needs some; an unbounded number would only hide forgotten ones. */
const KEYS_OF_USER_MAX = 200

/** API keys: how programs say whose requests they send. */
export interface Keys extends KeyCallers {
  /**
   * Makes a key, for the caller or for a service account of an entity that the caller manages. One that is made with a
   * key ends with it at the latest.
   * @throws 404 for an unknown user, as for one who shares no team with the caller; 403 for others that the caller does
   * not manage
   */
  create(req: wire.KeyCreateReq, context: CallContext): Promise<wire.KeyCreateRes>
  /** @throws as {@link Keys.create} */
  list(req: wire.KeysQuery, context: CallContext): Promise<wire.KeysRes>
  /** Whose a key is; undefined for an unknown or revoked one. */
  home(keyId: string): Promise<KeyHome | undefined>
  /** @throws 404 for a key of somebody whom the caller does not manage. */
  revoke(req: wire.KeyPath, context: CallContext): Promise<wire.KeyRevokeRes>
  /** Whether a caller may make keys for a user, and so do all that the user may. */
  mayMakeFor(caller: Caller, owner: UserRow): Promise<boolean>
}

/** Whose a key is. */
export interface KeyHome {
  /** The part of it that is shown. */
  prefix: string
  user: string
  /** Of the only project that it may use; else the person's own, or the team of a service account. */
  entity: string
}

export interface KeysDeps {
  control: ControlDb
  peers: Peers
  secretKey: SecretKey
  identity: Identity
  audit: Audit
}

export function createKeys(deps: KeysDeps): Keys {
  const { control, secretKey, identity, audit } = deps
  const callers = createKeyCallers(deps)

  async function create(req: wire.KeyCreateReq, context: CallContext) {
    const { caller } = context
    const owner = await identity.userNamed(req.user ?? caller.user)
    if (!(await mayMakeFor(caller, owner))) throw await notManaged(caller, owner)
    if (req.project_id != null) requireRight(caller.rights, 'read', projectIn(req.project_id))
    if ((await queries.countKeys(control, owner.id)) >= KEYS_OF_USER_MAX)
      throw conflict(`${owner.name} has ${KEYS_OF_USER_MAX} keys: revoke one first`)
    const { key, prefix } = newKeyText()
    const row: KeyRow = {
      id: newId(),
      prefix,
      hash: hashOf(secretKey, key),
      user_id: owner.id,
      name: req.name,
      scope: req.scope,
      project_id: req.project_id ?? null,
      created_at: nowIso(),
      expires_at: endWithKey(endOf(req), caller) ?? null,
      last_used_at: null,
      revoked_at: null,
    }
    const { scope, project_id, expires_at } = row
    await control.transaction().execute(async (tx) => {
      await queries.insertKey(tx, row)
      const details = { user: owner.name, name: req.name, scope, project_id, expires_at }
      await audit.record(
        caller,
        { action: 'key.create', entity: homeOf(owner), subject: prefix, details },
        tx,
      )
    })
    return { ...toWire(row, owner.name), key }
  }

  async function list(req: wire.KeysQuery, { caller }: CallContext) {
    const owner = await identity.userNamed(req.user ?? caller.user)
    if (!(await manages(caller, owner))) throw await notManaged(caller, owner)
    const page = { userId: owner.id, beforeId: req.after, limit: req.limit + 1 }
    const rows = await queries.listKeys(control, page)
    return toPage(
      rows.map((row) => toWire(row, owner.name)),
      req.limit,
    )
  }

  async function home(keyId: string): Promise<KeyHome | undefined> {
    const row = await queries.findKey(control, keyId)
    const owner = row && (await identity.user(row.user_id))
    if (row === undefined || row.revoked_at !== null || owner === undefined) return undefined
    const entity = row.project_id === null ? homeOf(owner) : placeOf(row.project_id).entity
    return { prefix: row.prefix, user: owner.name, entity }
  }

  async function revoke({ key_id }: wire.KeyPath, { caller }: CallContext) {
    const row = await queries.findKey(control, key_id)
    const owner = row && (await identity.user(row.user_id))
    if (row === undefined || owner === undefined || !(await manages(caller, owner)))
      throw notFound('key', key_id)
    await control.transaction().execute(async (tx) => {
      await queries.updateKey(tx, row.id, { revoked_at: row.revoked_at ?? nowIso() })
      const details = { user: owner.name, name: row.name }
      const event: Audited = { action: 'key.revoke', entity: homeOf(owner), subject: row.prefix, details }
      await audit.record(caller, event, tx)
    })
    callers.forget()
    return { id: row.id, revoked: true as const }
  }

  /** Users and operators; for service accounts those who may do themselves all that a key of it can. */
  async function mayMakeFor(caller: Caller, owner: UserRow): Promise<boolean> {
    return rightWithoutTeams(caller, owner) ?? (await identity.teamsOf(owner)).every(isManagedBy(caller))
  }

  /** Users and operators; for service accounts admins of any of its teams, whose data its keys reach. */
  async function manages(caller: Caller, owner: UserRow): Promise<boolean> {
    return rightWithoutTeams(caller, owner) ?? (await identity.teamsOf(owner)).some(isManagedBy(caller))
  }

  /** 403; for an account of other teams 404, as for an unknown name. */
  async function notManaged({ user, rights }: Caller, owner: UserRow): Promise<Error> {
    const isKnown =
      owner.name === user ||
      (await identity.teamsOf(owner)).some((entity) => rights.allows('read', { entity }))
    return isKnown ? mayNot(rights, `manage the keys of ${owner.name}`) : notFound('user', owner.name)
  }

  return { create, list, home, revoke, mayMakeFor, ...callers }
}

/** Whether a caller manages the keys of a user; undefined where the teams of a service account say. */
function rightWithoutTeams(caller: Caller, owner: UserRow): boolean | undefined {
  const { rights, user } = caller
  if (rights.isOperator) return true
  // A narrow key must not make a wider one.
  if (owner.name === user) return rights.entities !== 'all' && isUnlimited(caller)
  return owner.kind === 'service' ? undefined : false
}

/** The end that is asked for. */
function endOf({ expires_in_days: days }: wire.KeyCreateReq): string | undefined {
  return days == null ? undefined : isoIn(days * DAY_MS)
}

function isManagedBy({ rights }: Caller): (entity: string) => boolean {
  return (entity) => rights.allows('manage', { entity })
}

/**
 * The entity whose admins limit a user's keys, and whose audit trail has them. A person's keys reach all teams of the
 * person, so that no team decides about them.
 */
function homeOf(owner: UserRow): string {
  return owner.kind === 'person' ? owner.name : owner.default_entity
}

/** @throws 400 for what is no `entity/project` */
function projectIn(projectId: string): Place {
  const { entity, name } = parseProjectId(projectId)
  return { entity, project: name }
}

function toWire(
  { hash: _, user_id: _user, revoked_at: _revoked, ...row }: KeyRow,
  user: string,
): wire.ApiKey {
  return { ...row, user }
}
