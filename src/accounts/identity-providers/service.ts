import { conflict, invalidRequest, notAllowed, notFound } from '../../errors.ts'
import type { CallContext, Caller } from '../../http/caller.ts'
import { newId } from '../../ids.ts'
import type { ControlDb, ControlTx } from '../../stores/control-db/port.ts'
import { nowIso } from '../../time.ts'
import type { Audit } from '../audit/service.ts'
import type { Identity } from '../identity/service.ts'
import type { Keys } from '../keys/service.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import { type IdentityProviderRow, listForToken, listOf, replaceAllOf } from './queries.ts'
import type * as wire from './wire.ts'

/** The issuers of identity tokens that teams trust, and the service accounts that the tokens stand for. */
export interface IdentityProviders {
  /** @throws 404 for an unknown team */
  read(req: wire.EntityPath): Promise<wire.IdentityProvidersRes>
  /**
   * Replaces all of an entity. Access tokens that were given by one that is changed or gone end at once.
   * @throws 400 for an issuer that may not be asked, 404 for an unknown team or a user who is not of it, 409 for an
   * audience of another team
   */
  put(
    req: wire.EntityPath & wire.IdentityProvidersReq,
    context: CallContext,
  ): Promise<wire.IdentityProvidersRes>
}

export interface IdentityProvidersDeps {
  control: ControlDb
  identity: Identity
  keys: Pick<Keys, 'mayMakeFor'>
  issuerKeys: Pick<IssuerKeys, 'check'>
  audit: Audit
}

export function createIdentityProviders(deps: IdentityProvidersDeps): IdentityProviders {
  const { control, identity, keys, issuerKeys, audit } = deps

  async function read({ entity }: wire.EntityPath) {
    await identity.checkEntity(entity)
    return { data: (await listOf(control, entity)).map(toWire) }
  }

  async function put({ entity, data }: wire.EntityPath & wire.IdentityProvidersReq, { caller }: CallContext) {
    await identity.checkEntity(entity)
    const users = await Promise.all(data.map((provider) => serviceAccountOf(caller, entity, provider)))
    for (const provider of data) if (provider.jwks == null) issuerKeys.check(provider.issuer)
    const rows = data.map((provider, position) => toRow(entity, provider, position, users[position] ?? ''))
    await control.transaction().execute(async (tx) => {
      for (const provider of data) await checkIsFree(tx, entity, provider)
      const before = Map.groupBy(await listOf(tx, entity), contentOf)
      // One that stays as it was keeps its id, by which the tokens that it gave name it; of several alike, each keeps
      // one.
      const kept = rows.map((row) => ({ ...row, id: before.get(contentOf(row))?.shift()?.id ?? row.id }))
      await replaceAllOf(tx, entity, kept)
      const details = { data: data.map(({ jwks, ...rest }) => ({ ...rest, own_keys: jwks != null })) }
      await audit.record(caller, { action: 'identity_providers.set', entity, subject: entity, details }, tx)
    })
    return read({ entity })
  }

  /** The id of the account. Tokens for it can be made by those who may also make keys for it. */
  async function serviceAccountOf(caller: Caller, entity: string, provider: wire.IdentityProvider) {
    const user = await identity.userNamed(provider.service_account)
    // An account of other teams is answered as an unknown name.
    if (!(await identity.rolesOf(user.id)).has(entity)) throw notFound('user', user.name)
    if (user.kind !== 'service') throw invalidRequest(`${user.name} is no service account`, 'service_account')
    if (!(await keys.mayMakeFor(caller, user)))
      throw notAllowed(`${user.name} belongs to teams that this key does not manage`)
    return user.id
  }

  return { read, put }
}

/**
 * Another team must not get hold of tokens that are meant for this one: a token names no team, only its issuer and its
 * audience.
 */
async function checkIsFree(
  tx: ControlTx,
  entity: string,
  { issuer, audience }: wire.IdentityProvider,
): Promise<void> {
  const rows = await listForToken(tx, { issuer, audiences: [audience] })
  if (rows.some((row) => row.entity !== entity))
    throw conflict(`Another team trusts ${issuer} for the audience ${audience}: choose another audience`)
}

function toRow(
  entity: string,
  { issuer, audience, claims, jwks }: wire.IdentityProvider,
  position: number,
  user_id: string,
): IdentityProviderRow {
  return {
    id: newId(),
    entity,
    position,
    issuer,
    audience,
    claims: JSON.stringify(claims),
    jwks: jwks == null ? null : JSON.stringify(jwks),
    user_id,
    created_at: nowIso(),
  }
}

function contentOf({ issuer, audience, claims, jwks, user_id }: IdentityProviderRow): string {
  return JSON.stringify([issuer, audience, claims, jwks, user_id])
}

function toWire({
  issuer,
  audience,
  claims,
  jwks,
  service_account,
}: IdentityProviderRow & { service_account: string }): wire.IdentityProvider {
  return {
    issuer,
    audience,
    // Written by this service from checked values.
    claims: JSON.parse(claims) as wire.IdentityProvider['claims'],
    service_account,
    jwks: jwks === null ? null : (JSON.parse(jwks) as wire.IdentityProvider['jwks']),
  }
}
